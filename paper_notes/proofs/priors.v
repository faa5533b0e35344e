(* Priors over all depths d and all integers j, 1/((d+1)(d+2)) and 1/((π²/3-1)(|j|+1)²), and the union over them; the grid of margins. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From mathcomp.classical Require Import boolp classical_sets mathcomp_extra.
From mathcomp.analysis Require Import reals sequences exp trigo.
From AdaNet Require Import signs distributions basel one_class.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.

Section Priors.
Variable R : realType.
Lemma sum_subset (K : eqType) (F : K -> R) (r s : seq K) : (forall k, 0 <= F k) -> uniq r -> {subset r <= s} ->
  \sum_(k <- r) F k <= \sum_(k <- s) F k.
Proof.
move=> F0; elim: r s => [|k r IH] s; first by rewrite big_nil sumr_ge0.
rewrite /= => /andP[kr ur] sub; have ks : k \in s by apply: sub; rewrite mem_head.
rewrite big_cons (big_rem k ks) /= ler_add2l; apply: IH => // i ir.
have := sub i; rewrite inE ir orbT (perm_mem (perm_to_rem ks)) inE => /(_ isT) /predU1P[ik|//].
by rewrite -ik ir in kr.
Qed.
Definition prior_d (d : nat) : R := (d.+1 * d.+2)%:R^-1.
Definition prior_j (j : int) : R := ((pi ^+ 2 / 3%:R - 1) * `|j|%N.+1%:R ^+ 2)^-1.

Lemma prior_d_gt0 d : 0 < prior_d d. Proof. by rewrite invr_gt0 ltr0n muln_gt0. Qed.
Lemma prior_d_sum r : uniq r -> \sum_(d <- r) prior_d d <= 1.
Proof.
move=> ur; pose D := (\max_(d <- r) d).+1.
have sub : {subset r <= iota 0 D} by move=> d dr; rewrite mem_iota add0n ltnS leq_bigmax_seq.
apply: le_trans (sum_subset (fun d => ltW (prior_d_gt0 d)) ur sub) _.
have -> : \sum_(d <- iota 0 D) prior_d d = 1 - D.+1%:R^-1.
  rewrite -[iota _ _]/(index_iota 0 D) big_mkord; elim: (D) => [|n IH]; first by rewrite big_ord0 invr1 subrr.
  rewrite big_ord_recr /= IH /prior_d natrM -[n.+2%:R]natr1; have : n.+1%:R != 0 :> R by rewrite pnatr_eq0.
  have : n.+1%:R + 1 != 0 :> R by rewrite natr1 pnatr_eq0.
  by move: (n.+1%:R : R) => a a0 a1; field; rewrite a0 a1.
by rewrite ler_subl_addr ler_addl invr_ge0 ler0n.
Qed.

Lemma z_gt0 : 0 < pi ^+ 2 / 3%:R - 1 :> R.
Proof.
rewrite subr_gt0 ltr_pdivl_mulr ?ltr0n // mul1r; apply: (@lt_le_trans _ _ (2%:R ^+ 2)); first by rewrite -natrX ltr_nat.
by rewrite ler_expn2r ?nnegrE ?ler0n ?pi_ge0 // pi_ge2.
Qed.
Lemma prior_j_gt0 j : 0 < prior_j j.
Proof. by rewrite invr_gt0 mulr_gt0 ?z_gt0 // exprn_gt0 // ltr0n. Qed.
Lemma prior_j_sum r : uniq r -> \sum_(j <- r) prior_j j <= 1.
Proof.
move=> ur; pose J := (\max_(j <- r) `|j|%N).+1.
have sub : {subset r <= [seq Posz i | i <- iota 0 J] ++ [seq Negz i | i <- iota 0 J]}.
  move=> j jr; have : (`|j| < J)%N by rewrite ltnS leq_bigmax_seq.
  rewrite mem_cat; case: j {jr} => i; rewrite ?NegzE ?abszN !absz_nat => iJ.
    by rewrite map_f // mem_iota add0n.
  by rewrite -NegzE orbC map_f // mem_iota add0n (ltnW iJ).
apply: le_trans (sum_subset (fun j => ltW (prior_j_gt0 j)) ur sub) _.
rewrite big_cat !big_map -[iota _ _]/(index_iota 0 J) !big_mkord.
rewrite (eq_bigr (fun i : 'I_J => (pi ^+ 2 / 3%:R - 1)^-1 * (i.+1%:R ^+ 2)^-1)) => [|i _]; last by rewrite /prior_j invfM absz_nat.
rewrite [X in _ + X <= _](eq_bigr (fun i : 'I_J => (pi ^+ 2 / 3%:R - 1)^-1 * (i.+2%:R ^+ 2)^-1)) => [|i _]; last first.
  by rewrite /prior_j invfM NegzE abszN absz_nat.
rewrite -!mulr_sumr -mulrDr ler_pdivr_mull ?z_gt0 // mulr1.
have h1 := basel R J; have h2 := basel R J.+1; rewrite big_ord_recl /= expr1n invr1 in h2.
by apply: (le_by (ler_add h1 h2)); move: (\sum_(i < J) _) (\sum_(i < J) _) (pi ^+ 2) => a b e; field.
Qed.

(* the margins B/(1+η)^j *)
Definition scale (eta : R) (j : int) : R := (1 + eta) ^ j.
Lemma scale_gt0 (eta : R) j : 0 < eta -> 0 < scale eta j.
Proof. by move=> e0; rewrite exprz_gt0 // addr_gt0 ?ltr01. Qed.

Definition log_prior (d : nat) (j : int) : R := ln (d.+1 * d.+2)%:R + ln (pi ^+ 2 / 3%:R - 1) + 2%:R * ln `|j|%N.+1%:R.
Lemma log_priorE (delta : R) d j : 0 < delta -> ln (delta * prior_d d * prior_j j)^-1 = ln delta^-1 + log_prior d j.
Proof.
move=> d0; have a0 : 0 < (d.+1 * d.+2)%:R :> R by rewrite ltr0n muln_gt0.
have b0 : 0 < `|j|%N.+1%:R :> R by rewrite ltr0n.
rewrite /prior_d /prior_j !invfM !invrK lnM ?posrE ?mulr_gt0 ?invr_gt0 ?exprn_gt0 ?z_gt0 // lnM ?posrE ?invr_gt0 // lnM ?posrE ?exprn_gt0 ?z_gt0 //.
- by rewrite lnM ?posrE // /log_prior mulr_natl mulr2n !addrA.
- by rewrite mulr_gt0.
Qed.

Variables (I : finType) (w : I -> R) (m : nat) (bad : nat -> int -> {ffun 'I_m -> I} -> Prop) (delta : R).
Hypotheses (w0 : forall i, 0 <= w i) (w1 : \sum_i w i = 1) (d01 : 0 < delta < 1).
Lemma shared_delta d j : 0 < delta * prior_d d * prior_j j < 1.
Proof.
have /andP[d0 d1] := d01; have p0 := prior_d_gt0 d; have q0 := prior_j_gt0 j; rewrite !mulr_gt0 //=.
have p1 := @prior_d_sum [:: d] isT; have q1 := @prior_j_sum [:: j] isT; rewrite !big_seq1 in p1 q1.
by rewrite -mulrA (le_lt_trans _ d1) // ler_pimulr ?(ltW d0) // -[X in _ <= X]mulr1 ler_pmul ?(ltW p0) ?(ltW q0).
Qed.
Lemma union_dj : (forall d j, Ex w (fun S => `[< bad d j S >]%:R) <= delta * prior_d d * prior_j j) ->
  Ex w (fun S => `[< exists d j, bad d j S >]%:R) <= delta.
Proof.
have /andP[d0 _] := d01; move=> each; apply: (union w0 w1 (ltW d0) prior_d_sum) => d.
by apply: (union w0 w1 _ prior_j_sum) => //; rewrite mulr_ge0 ?ltW // prior_d_gt0.
Qed.
End Priors.

(* ρ_j = W/(1+η)^j lies in (ρ/(1+η), ρ] for j = ⌈log_{1+η}(W/ρ)⌉ *)
Section Grid.
Variables (R : realType) (eta : R).
Hypothesis eta0 : 0 < eta.
Let e1 : 0 < 1 + eta. Proof. by rewrite addr_gt0 ?ltr01. Qed.
Let le0 : 0 < ln (1 + eta). Proof. by rewrite ln_gt0 // ltr_addl. Qed.
Definition log_to (x : R) : R := ln x / ln (1 + eta).
Lemma scaleE j : scale eta j = expR (j%:~R * ln (1 + eta)).
Proof.
rewrite /scale; case: j => n; first by rewrite -exprnP expRMm lnK.
by rewrite NegzE -exprnN mulrNz mulNr expRN expRMm lnK.
Qed.
Lemma on_grid (W rho : R) : 0 < W -> 0 < rho -> exists j : int,
  [/\ W / scale eta j <= rho, scale eta j / W <= (1 + eta) / rho & `|j|%N.+1%:R <= 2%:R + `|log_to (W / rho)|].
Proof.
move=> W0 r0; set x := log_to (W / rho); have q0 : 0 < W / rho by rewrite divr_gt0.
have xE : W / rho = expR (x * ln (1 + eta)) by rewrite /x /log_to divfK ?gt_eqF // lnK.
pose j := ceil x; have s0 := scale_gt0 j eta0; have jx : x <= j%:~R := ceil_ge x.
have xj : j%:~R - 1 < x.
  by have := ceil_lt_int x (j - 1); rewrite rmorphB /= => ->; rewrite ltr_subl_addr ltr_addl.
exists j; split.
- rewrite ler_pdivr_mulr // -ler_pdivr_mull // mulrC xE scaleE ler_expR; exact: ler_wpmul2r (ltW le0) _ _ jx.
- rewrite ler_pdivr_mulr // mulrAC -mulrA xE scaleE -[X in _ <= X * _]lnK // -expRD ler_expR.
  by have := ler_wpmul2r (ltW le0) (ltW xj); move: (j%:~R) (ln _) => y z h; linear h.
- have aj : `|j%:~R : R| <= 1 + `|x|.
    rewrite ler_norml; apply/andP; split; last first.
      by have := ler_norm x; have := ltW xj; move: (j%:~R) `|x| => y z h1 h2; linear (ler_add h1 h2).
    by have := ler_norm (- x); rewrite normrN; move: (j%:~R) `|x| jx => y z h1 h2; linear (ler_add (ler_add h1 h2) (ler01 : 0 <= 1 :> R)).
  by rewrite -natr1 natr_absz intr_norm; move: `|j%:~R| `|x| aj => y z h; linear h.
Qed.
End Grid.
