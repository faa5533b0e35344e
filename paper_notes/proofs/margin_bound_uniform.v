(* margin-bound-uniform, distributions of finite support: |g| <= M_k on G_k. With probability 1 - δ, for every f = Σ_t w_t g_t, not
   normalised, with W_M = Σ_t |w_t| M_{k(t)} > 0, and every integer j, at ρ = W_M/(1+η)^j,
     R(f) <= ramp_ρ(f) + (2/ρ) Σ_t |w_t| R_m(G_{k(t)}) + 2(1+η)^j sqrt(2 log l/m) + sqrt([log(1/δ) + log(π²/3-1) + 2 log(|j|+1)]/(2m)).
   It is margin-bound for the families G_k/M_k, of range 1, and f/W_M. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From mathcomp.classical Require Import boolp classical_sets.
From mathcomp.analysis Require Import reals sequences exp trigo.
From AdaNet Require Import signs suprema norms families range distributions symmetrisation margin_bound one_class priors.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.

Section Uniform.
Variables (R : realType) (I : finType) (w : I -> R) (l m : nat) (G : 'I_l -> set (I -> R)) (M : 'I_l -> R) (eta delta : R).
Hypotheses (w0 : forall i, 0 <= w i) (w1 : \sum_i w i = 1) (m0 : (0 < m)%N) (l0 : (0 < l)%N) (eta0 : 0 < eta) (d01 : 0 < delta < 1).
Hypotheses (G0 : forall k, G k (fun=> 0)) (Gneg : forall k g, G k g -> G k (fun a => - g a)).
Hypothesis GM : forall k g a, G k g -> `|g a| <= M k.
Implicit Types (th : ensemble R I l) (S : {ffun 'I_m -> I}) (j : int).

(* W_M *)
Definition spread th : R := \sum_t `|weight t| * M (layer (e := th) t).
Let M0 k : 0 <= M k.
Proof. by have [i _|n] := pickP I; [apply: le_trans (normr_ge0 _) (GM i (G0 k)) | move: w1; rewrite big_pred0 // => /eqP; rewrite eq_sym oner_eq0]. Qed.
(* G_k/M_k; {0} where M_k = 0 *)
Let G1 k : set (I -> R) := [set g | exists2 h, G k h & forall a, g a = (M k)^-1 * h a].
Let bG k S : bounded_at (G k) (at_sample (fun i => S i)).
Proof. by move=> i; exists (M k) => g Gg; exact: (GM _ Gg). Qed.
Let GM0 k g a : M k = 0 -> G k g -> g a = 0.
Proof. by move=> Mk Gg; apply/eqP; rewrite -normr_le0 -Mk GM. Qed.
Let Rm_scaled k : M k * Rm w m G1 k = Rm w m G k.
Proof.
rewrite /Rm -Ex_scale; apply: eq_Ex => S; rewrite /Rad mulrCA; congr (_ * _); rewrite -E_scale; apply: eq_E => s.
have -> : Sup (G1 k) (fun h => dot s (at_sample (fun i => S i) h)) = Sup (G k) (fun h => (M k)^-1 * dot s (at_sample (fun i => S i) h)).
  have dE (h g : I -> R) : (forall a, g a = (M k)^-1 * h a) -> (M k)^-1 * dot s (at_sample (fun i => S i) h) = dot s (at_sample (fun i => S i) g).
    by move=> gE; rewrite -dotZ; apply: eq_dot => i; rewrite /at_sample gE.
  congr sup; apply/seteqP; split=> _ [g Gg <-]; first by have [h Gh gE] := Gg; exists h => //; exact: dE.
  by exists (fun a => (M k)^-1 * g a); [exists g | rewrite -(dE g)].
rewrite Sup_scale ?invr_ge0 //; [|by exists (fun=> 0)|exact: bounded_dot].
have [Mk|Mk] := eqVneq (M k) 0; last by rewrite mulrA mulfV // mul1r.
rewrite Mk mul0r; apply/eqP; rewrite eq_le; apply/andP; split; last first.
  by apply: Sup_le => [|g Gg]; [exists (fun=> 0) | rewrite /dot big1 // => i _; rewrite /at_sample (GM0 _ Mk Gg) mulr0].
apply: le_trans (Sup_ub (bounded_dot s (bG k S)) (G0 k)); by rewrite /dot big1 // => i _; rewrite mulr0.
Qed.

Theorem margin_bound_uniform : Ex w (fun S => `[< exists (th : ensemble R I l) (j : int),
  [/\ forall t, G (layer t) (unit_of (e := th) t), 0 < spread th &
    ramp_loss (spread th / scale eta j) S th + 2%:R / (spread th / scale eta j) * (\sum_t `|weight t| * Rm w m G (layer (e := th) t))
    + 2%:R * scale eta j * Num.sqrt (2%:R * ln l%:R / m%:R)
    + Num.sqrt ((ln delta^-1 + (ln (pi ^+ 2 / 3%:R - 1) + 2%:R * ln `|j|%N.+1%:R)) / (2%:R * m%:R)) < risk w th] >]%:R) <= delta.
Proof.
have /andP[d0 d1] := d01.
apply: (@le_trans _ _ (Ex w (fun S => `[< exists j : int, exists th : ensemble R I l, [/\ forall t, G (layer t) (unit_of (e := th) t), 0 < spread th &
    ramp_loss (spread th / scale eta j) S th + 2%:R / (spread th / scale eta j) * (\sum_t `|weight t| * Rm w m G (layer (e := th) t))
    + 2%:R * scale eta j * Num.sqrt (2%:R * ln l%:R / m%:R)
    + Num.sqrt ((ln delta^-1 + (ln (pi ^+ 2 / 3%:R - 1) + 2%:R * ln `|j|%N.+1%:R)) / (2%:R * m%:R)) < risk w th] >]%:R))).
  by apply: Ex_le => // S; case: asboolP => [[th [j h]]|_]; [rewrite asboolT ?lexx //; exists j, th | exact: ler0n].
apply: (union w0 w1 (ltW d0) (@prior_j_sum R)) => j; have q0 := prior_j_gt0 R j; have s0 := scale_gt0 j eta0.
have dj : 0 < delta * prior_j R j < 1.
  rewrite mulr_gt0 //= (le_lt_trans _ d1) // ler_pimulr ?(ltW d0) //.
  by have := @prior_j_sum R [:: j] isT; rewrite big_seq1.
have ri : 0 < (scale eta j)^-1 by rewrite invr_gt0.
have G10 k : G1 k (fun=> 0) by exists (fun=> 0) => [|a]; rewrite ?mulr0.
have G1neg k g : G1 k g -> G1 k (fun a => - g a).
  by move=> [h Gh gE]; exists (fun a => - h a) => [|a]; [exact: Gneg | rewrite gE mulrN].
have G1M k g a : G1 k g -> `|g a| <= 1.
  move=> [h Gh ->]; rewrite normrM (ger0_norm (_ : 0 <= (M k)^-1)) ?invr_ge0 //.
  have [Mk|Mk] := eqVneq (M k) 0; first by rewrite Mk invr0 mul0r ler01.
  by rewrite ler_pdivr_mull ?mulr1 ?GM // lt_def Mk M0.
apply: le_trans (margin_bound w0 w1 m0 l0 ri G10 G1neg G1M dj); apply: Ex_le => // S.
case: asboolP => [[th [Gth W0 lt]]|_]; last exact: ler0n.
rewrite /failure asboolT ?lexx //; set W := spread th in W0 lt; have Wn : W != 0 by rewrite gt_eqF.
pose th1 := @Ensemble R I l (size th) (fun t => weight t * M (layer t) / W) (fun t => layer t) (fun t a => (M (layer t))^-1 * unit_of (e := th) t a).
have vE a : value th1 a = W^-1 * value th a.
  rewrite /value mulr_sumr; apply: eq_bigr => t _ /=; have [Mt|Mt] := eqVneq (M (layer t)) 0.
    by rewrite (GM0 _ Mt (Gth t)) !mulr0.
  by move: (unit_of t a) (weight t) => x y; field; rewrite Mt Wn.
have wE t : `|weight (e := th1) t| = `|weight (e := th) t| * M (layer t) / W.
  by rewrite /= !normrM normfV (ger0_norm (M0 _)) (gtr0_norm W0).
exists th1; split.
  split=> [|t]; last by exists (unit_of (e := th) t) => //; exact: Gth.
  by rewrite (eq_bigr _ (fun t _ => wE t)) -mulr_suml divff.
have -> : risk w th1 = risk w th by apply: eq_bigr => a _; rewrite vE pmulr_rle0 ?invr_gt0.
have -> : ramp_loss (scale eta j)^-1 S th1 = ramp_loss (W / scale eta j) S th.
  congr (_ * _); apply: eq_bigr => i _; rewrite vE /ramp; congr (Num.max _ (Num.min _ (1 - _))).
  by rewrite invfM !invrK mulrCA mulrA.
have lE : ln (delta * prior_j R j)^-1 = ln delta^-1 + (ln (pi ^+ 2 / 3%:R - 1) + 2%:R * ln `|j|%N.+1%:R).
  have dv : 0 < delta^-1 by rewrite invr_gt0.
  have qv : 0 < (prior_j R j)^-1 by rewrite invr_gt0.
  rewrite invfM lnM //; congr (_ + _); rewrite /prior_j invrK lnM ?posrE ?z_gt0 ?exprn_gt0 ?ltr0n //.
  by rewrite lnX ?ltr0n // -[_ *+ 2]mulr_natl.
apply: le_lt_trans lt; rewrite lE mulr1 !invrK -!addrA ler_add2l; apply: ler_add => //.
rewrite /penalty invrK (eq_bigr (fun t => W^-1 * (`|weight (e := th) t| * Rm w m G (layer t)))) => [|t _]; last first.
  by rewrite wE -(Rm_scaled (layer t)) /=; ring.
by rewrite -mulr_sumr invfM invrK -[X in _ <= X]mulrA -[X in _ <= _ * X]mulrA [X in _ <= _ * X]mulrCA; exact: lexx.
Qed.
End Uniform.

(* H_1 .. H_l with the ranges M_k of range.v *)
Theorem margin_bound_uniform_networks (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R) (I : finType) (w : I -> R)
    (xs : I -> X) (ys : I -> bool) (l m : nat) (L : nat -> R) (b : nat -> option R) (r eta delta : R) :
  (forall i, 0 <= w i) -> \sum_i w i = 1 -> (0 < m)%N -> (0 < l)%N -> 0 < eta -> 0 < delta < 1 ->
  (forall s, lipschitz (L s) (phi N s)) -> (forall s c, b s = Some c -> forall y, `|phi N s y| <= c) -> 0 <= r -> (forall x j, `|Psi x j| <= r) ->
  let G (k : 'I_l) := margins xs ys (H Psi k.+1) in let W th := spread (fun k : 'I_l => M N L b r k.+1) th in
  Ex w (fun S : {ffun 'I_m -> I} => `[< exists (th : ensemble R I l) (j : int), [/\ forall t, G (layer t) (unit_of (e := th) t), 0 < W th &
    ramp_loss (W th / scale eta j) S th + 2%:R / (W th / scale eta j) * (\sum_t `|weight t| * Rm w m G (layer (e := th) t))
    + 2%:R * scale eta j * Num.sqrt (2%:R * ln l%:R / m%:R)
    + Num.sqrt ((ln delta^-1 + (ln (pi ^+ 2 / 3%:R - 1) + 2%:R * ln `|j|%N.+1%:R)) / (2%:R * m%:R)) < risk w th] >]%:R) <= delta.
Proof.
move=> w0 w1 m0 l0 eta0 d01 lip cap r0 Pr /=; apply: margin_bound_uniform => // [k|k g [h Hh gE]|k g a [h Hh gE]].
- by exists (fun=> 0) => [|a]; [exact: H_zero | rewrite mulr0].
- by exists (fun y => - h y) => [|a]; [exact: H_opp | rewrite gE mulrN].
- by rewrite gE normrM normrX normrN1 expr1n mul1r; exact: (range lip cap r0 Pr).
Qed.
