(* Where the slopes of the sigmoid, tanh, softplus and ELU lie, and Lemma 1 with the constants that follow: 1/4, 1, 3/2, 3/2;
   Lemma 2, peeled, for tanh (1) and ELU (3/2), whose φ(0) = 0. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From mathcomp.classical Require Import boolp classical_sets functions mathcomp_extra.
From mathcomp.analysis Require Import reals signed topology normedtype sequences derive realfun exp.
From AdaNet Require Import signs suprema exponential norms activations families distributions lemma_1_exact lemma_1_corrected lemma_2_peeled.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Import numFieldNormedType.Exports.
Local Open Scope ring_scope.

Section Slopes.
Variable R : realType.
Implicit Types x y : R.
Definition tanh x : R := (expR x - expR (- x)) / (expR x + expR (- x)).
Definition softplus x : R := ln (1 + expR x).
Definition elu x : R := if 0 <= x then x else expR x - 1.

Let two : (2%:R : R) != 0. Proof. by rewrite pnatr_eq0. Qed.
Lemma sigmoid_odd x : sigmoid (- x) - sigmoid (0 : R) = - (sigmoid x - sigmoid 0).
Proof.
rewrite sigmoid0 /sigmoid opprK expRN; have := expR_gt0 x; move: (expR x) => a a0.
have h1 : 1 + a != 0 by rewrite gt_eqF // addr_gt0 ?ltr01.
by field; rewrite gt_eqF //= addrC h1.
Qed.
(* the curve behind Hoeffding's lemma at a = 1/2 *)
Lemma sigmoid_tilt x : sigmoid x = tilt 2%:R^-1 x.
Proof.
rewrite /sigmoid /tilt /mix expRN; have := expR_gt0 x; move: (expR x) => a a0.
have h1 : 1 + a != 0 by rewrite gt_eqF // addr_gt0 ?ltr01.
by field; rewrite h1 gt_eqF.
Qed.
Theorem slopes_sigmoid : slopes 0 4%:R^-1 (@sigmoid R).
Proof.
have h01 : 0 <= (2%:R^-1 : R) <= 1 by rewrite invr_ge0 ler0n /= invf_le1 ?ltr0n // ler1n.
move=> x y; rewrite le_eqVlt => /predU1P[->|xy]; first by rewrite !subrr !mulr0 lexx.
rewrite !sigmoid_tilt; have [c _ ->] := MVT xy (fun z _ => derive_tilt h01 z) (continuous_derive (derive_tilt h01)).
by have /andP[s0 s1] := slope_tilt h01 c; rewrite !ler_wpmul2r ?subr_ge0 ?(ltW xy) //.
Qed.
Lemma tanh_sigmoid x : tanh x = 2%:R * sigmoid (2%:R * x) - 1.
Proof.
rewrite /tanh /sigmoid (_ : - (2%:R * x) = - x + - x); last by ring.
rewrite expRD expRN; have := expR_gt0 x; move: (expR x) => a a0.
have h1 : a * a + 1 != 0 by rewrite gt_eqF // addr_gt0 ?ltr01 ?mulr_gt0.
by field; rewrite h1 gt_eqF.
Qed.
Theorem slopes_tanh : slopes 0 1 tanh.
Proof.
move=> x y xy; rewrite !tanh_sigmoid; have xy2 : 2%:R * x <= 2%:R * y by rewrite ler_wpmul2l ?ler0n.
have /andP[h1 h2] := slopes_sigmoid xy2; move: (sigmoid _) (sigmoid _) h1 h2 => u v h1 h2; apply/andP; split.
- by apply: (le_by (ler_add h1 h1)); ring.
- by apply: (le_by (ler_add h2 h2)); field.
Qed.
Lemma tanh_odd : odd_fun tanh.
Proof. by move=> x; rewrite /tanh opprK addrC -mulNr opprB addrC [expR x + _]addrC. Qed.
Theorem slopes_softplus : slopes 0 1 softplus.
Proof.
move=> x y xy; have p z : 0 < 1 + expR z :> R by rewrite addr_gt0 ?ltr01 ?expR_gt0.
rewrite mul0r mul1r subr_ge0 /softplus ler_ln ?posrE // ler_add2l ler_expR xy /=.
rewrite ler_subl_addr -ler_expR lnK ?posrE // expRD lnK ?posrE // mulrDr mulr1 -expRD subrK ler_add2r.
by rewrite -(expR0 R) ler_expR subr_ge0.
Qed.
Theorem slopes_elu : slopes 0 1 elu.
Proof.
have ex (z : R) : z <= 0 -> z <= expR z - 1 <= 0.
  by move=> z0; rewrite ler_subr_addl expR_ge1D subr_le0 -(expR0 R) ler_expR.
move=> x y xy; rewrite mul0r mul1r /elu; case: (leP 0 x) => x0; case: (leP 0 y) => y0.
- by rewrite subr_ge0 xy lexx.
- by have := le_lt_trans x0 (le_lt_trans xy y0); rewrite ltxx.
- have /andP[h1 h2] := ex x (ltW x0); rewrite subr_ge0 (le_trans h2 y0) /=.
  by rewrite ler_add2l ler_oppl opprK.
- rewrite (_ : expR y - 1 - (expR x - 1) = expR y - expR x); last by move: (expR x) (expR y) => *; ring.
  rewrite subr_ge0 ler_expR xy /=.
  have -> : expR x = expR y * expR (x - y) by rewrite -expRD addrCA subrr addr0.
  have e1 : expR y <= 1 by rewrite -(expR0 R) ler_expR ltW.
  have d0 : x - y <= 0 by rewrite subr_le0.
  have /andP[h1 h2] := ex _ d0; have q0 : 0 <= 1 - expR (x - y) by rewrite -oppr_le0 opprB.
  rewrite -{1}[expR y]mulr1 -mulrBr (@le_trans _ _ (1 - expR (x - y))) //; first by rewrite ler_pimull.
  by rewrite -ler_opp2 !opprB.
Qed.
End Slopes.

Section Lemma1.
Variables (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R) (m : nat) (x : 'I_m -> X) (k : nat).
Hypothesis k1 : (1 < k)%N.
Local Notation RS s := (Rad x (H Psi s)).
Local Notation Lq s := (Lam N k s * root_q (p N) (n N s)).
Let half_slopes : `|0 + 1 : R| / 2%:R + (1 - 0) = 3%:R / 2%:R.
Proof. by rewrite add0r normr1 subr0; field. Qed.

Corollary lemma_1_sigmoid : (forall s, phi N s = @sigmoid R) -> RS k <= \sum_(1 <= s < k) Lq s * (4%:R^-1 * RS s + 2%:R^-1 * mu R m).
Proof.
move=> act; have sp s : splits (phi N s) 4%:R^-1.
  rewrite act; exists (fun y => sigmoid y - sigmoid 0), (fun=> 0), 4%:R^-1, 0; split; last by rewrite mulr0 addr0.
  split=> // [y|y|a b|a b]; rewrite ?subrr ?normr0 ?mul0r //; first by rewrite addr0 addrC subrK.
  - exact: sigmoid_odd.
  - have lip : lipschitz 4%:R^-1 (@sigmoid R).
      apply: lip_ordered => a' b' ab; have /andP[h1 h2] := slopes_sigmoid ab; rewrite mul0r in h1.
      by rewrite ger0_norm.
    by rewrite opprB addrA subrK; exact: lip.
apply: le_trans (lemma_1_corrected (c := fun=> 4%:R^-1) Psi x k1 sp) _; rewrite le_eqVlt; apply/orP; left; apply/eqP.
by apply: eq_bigr => s _; rewrite act sigmoid0 [`|2%:R^-1|]ger0_norm // invr_ge0 ler0n.
Qed.
Corollary lemma_1_tanh : (forall s, phi N s = @tanh R) -> RS k <= \sum_(1 <= s < k) Lq s * RS s.
Proof.
move=> act; rewrite -[X in _ <= X]mul1r; apply: (lemma_1_odd Psi x k1) => s; rewrite act; last exact: tanh_odd.
apply: lip_ordered => a b ab; have /andP[h1 h2] := slopes_tanh ab; rewrite mul0r in h1.
by rewrite ger0_norm.
Qed.
Corollary lemma_1_softplus : (forall s, phi N s = @softplus R) -> RS k <= \sum_(1 <= s < k) Lq s * (3%:R / 2%:R * RS s + ln 2%:R * mu R m).
Proof.
move=> act; have sl s : slopes 0 1 (phi N s) by rewrite act; exact: slopes_softplus.
apply: le_trans (lemma_1_slopes Psi x k1 sl) _; rewrite half_slopes le_eqVlt; apply/orP; left; apply/eqP.
apply: eq_bigr => s _; rewrite act /softplus expR0 -[1 + 1]/(2%:R) ger0_norm // ln_ge0 // ler1n //.
Qed.
Corollary lemma_1_elu : (forall s, phi N s = @elu R) -> RS k <= 3%:R / 2%:R * \sum_(1 <= s < k) Lq s * RS s.
Proof.
move=> act; have sl s : slopes 0 1 (phi N s) by rewrite act; exact: slopes_elu.
apply: le_trans (lemma_1_slopes Psi x k1 sl) _; rewrite half_slopes mulr_sumr le_eqVlt; apply/orP; left; apply/eqP.
by apply: eq_bigr => s _; rewrite act /elu lexx normr0 mul0r addr0 mulrCA.
Qed.
End Lemma1.

Section Lemma2.
Variables (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R) (m : nat) (x : 'I_m -> X) (k : nat).
Hypotheses (m0 : (0 < m)%N) (n0 : (0 < n N 0)%N) (k0 : (0 < k)%N).
Local Notation bound e :=
  (r_rms Psi x * P N (fun=> 1) k * Num.sqrt (2%:R * (ln (2%:R * (n N 0)%:R) + ln (D N (fun=> 1) (fun=> e) k)) / m%:R)).
Corollary lemma_2_elu : (forall s, phi N s = @elu R) -> Rad x (H Psi k) <= bound (3%:R / 2%:R).
Proof.
move=> act; apply: (lemma_2_peeled Psi x (L := fun=> 1) (e := fun=> 3%:R / 2%:R)) => // s; rewrite act -{1}[3%:R]subr0.
by apply: peels_slopes; rewrite ?normr0 ?ler01 //; [exact: slopes_elu | rewrite /elu lexx].
Qed.
Corollary lemma_2_tanh : (forall s, phi N s = @tanh R) -> Rad x (H Psi k) <= bound 1.
Proof.
move=> act; apply: (lemma_2_odd Psi x m0 n0 k0 ltr01) => s; rewrite act; last exact: tanh_odd.
apply: lip_ordered => a b ab; have /andP[h1 h2] := slopes_tanh ab; rewrite mul0r in h1.
by rewrite ger0_norm.
Qed.
End Lemma2.
