(* a-posteriori and a-posteriori-bounded for distributions of finite support: with probability 1 - δ, for every network of any depth d,
   widths and weights with a positively homogeneous φ, path norm B > 0, and every integer j, at ρ = B/(1+η)^j
     R(f) <= ramp_ρ(f) + 2(1+η)^j r_rms sqrt(2 log(2n_0 A_d)/m) + 2 sqrt([log(1/δ) + log((d+1)(d+2)) + log(π²/3-1) + 2 log(|j|+1)]/(2m)). *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From mathcomp.classical Require Import boolp classical_sets mathcomp_extra.
From mathcomp.analysis Require Import reals sequences exp.
From AdaNet Require Import signs suprema contraction activations families lemma_2_peeled distributions symmetrisation margin_bound.
From AdaNet Require Import one_class priors path_classes.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.

Section APosteriori.
Variables (R : realType) (X : Type) (n0 : nat) (Psi : X -> 'I_n0 -> R) (phi : R -> R) (c : R).
Variables (I : finType) (w : I -> R) (xs : I -> X) (ys : I -> bool) (m : nat) (eta delta : R).
Hypotheses (hom : homogeneous phi) (peel : peels phi 1 c) (n0_gt0 : (0 < n0)%N).
Hypotheses (w0 : forall i, 0 <= w i) (w1 : \sum_i w i = 1) (m0 : (0 < m)%N) (eta0 : 0 < eta) (d01 : 0 < delta < 1).
Implicit Types (f : network R n0) (S : {ffun 'I_m -> I}) (j : int).

(* y f(x) at an atom *)
Definition margin f (a : I) : R := (-1) ^+ ys a * output Psi phi f (xs a).
Definition network_risk f : R := \sum_a w a * ((margin f a <= 0)%R)%:R.
Definition network_ramp (rho : R) S f : R := m%:R^-1 * \sum_i ramp rho (margin f (S i)).
Local Notation scale := (priors.scale eta).
Definition confidence k j : R := Num.sqrt ((ln delta^-1 + log_prior R k j) / (2%:R * m%:R)).

Let G k := margins xs ys (network_class Psi phi k).
Let sc0 j : 0 < scale j := scale_gt0 j eta0.
Let ends f : 0 < path_norm f -> exists2 g, G (d f) g &
  network_risk f = \sum_a w a * ((g a <= 0)%R)%:R /\ forall j S, network_ramp (path_norm f / scale j) S f = m%:R^-1 * \sum_i ramp (scale j)^-1 (g (S i)).
Proof.
move=> B0; have [h hh hE] := output_in_class Psi hom f; pose g a : R := (-1) ^+ ys a * h (xs a).
have mE a : margin f a = path_norm f * g a by rewrite /margin hE mulrCA.
exists g; first by exists h.
split=> [|j S]; first by apply: eq_bigr => a _; rewrite mE pmulr_rle0.
congr (_ * _); apply: eq_bigr => i _; rewrite mE /ramp; congr (Num.max _ (Num.min _ (1 - _))).
by rewrite !invfM !invrK mulrACA divff ?mul1r // gt_eqF.
Qed.
Let G_bounded k a : exists M, forall g, G k g -> `|g a| <= M.
Proof.
exists (\big[Num.max/0]_j `|Psi (xs a) j|) => g [h hh ->]; rewrite normrM normrX normrN1 expr1n mul1r.
exact: (network_class_le peel _ hh).
Qed.
Let G0 k : G k (fun=> 0). Proof. by exists (fun=> 0) => [|a]; [exact: hull_zero | rewrite mulr0]. Qed.

Theorem a_posteriori : Ex w (fun S => `[< exists f j, 0 < path_norm f /\
  network_ramp (path_norm f / scale j) S f + 2%:R * scale j * (r_rms Psi (fun i => xs (S i)) * Num.sqrt (2%:R * ln (2%:R * n0%:R * A c (d f)) / m%:R))
    + 2%:R * confidence (d f) j < network_risk f >]%:R) <= delta.
Proof.
pose bad k j S := exists f, [/\ d f = k, 0 < path_norm f &
  network_ramp (path_norm f / scale j) S f + 2%:R * scale j * (r_rms Psi (fun i => xs (S i)) * Num.sqrt (2%:R * ln (2%:R * n0%:R * A c k) / m%:R))
    + 2%:R * confidence k j < network_risk f].
apply: le_trans (union_dj (bad := bad) w0 w1 d01 _).
  apply: Ex_le => // S; case: asboolP => [[f [j [B0 lt]]]|_]; last exact: ler0n.
  by rewrite asboolT ?lexx //; exists (d f), j, f.
move=> k j; have ri : 0 < (scale j)^-1 by rewrite invr_gt0.
have Gne : G k !=set0 by exists (fun=> 0).
apply: le_trans (empirical w0 w1 m0 ri Gne (G_bounded k) (shared_delta d01 k j)).
apply: Ex_le => // S; case: asboolP => [[f [fk B0 lt]]|_]; last exact: ler0n.
have [g Gg [rE aE]] := ends B0; rewrite fk in Gg; rewrite asboolT ?lexx //; exists g; split=> //.
rewrite -rE -aE; apply: le_lt_trans lt; rewrite invrK Rad_margins; have /andP[d0 _] := d01; rewrite log_priorE //.
rewrite ler_add2r ler_add2l ler_wpmul2l //; first by rewrite mulr_ge0 ?ler0n // ltW.
by apply: (class_complexity peel) => // [|i]; [exact: r_rms_ge0 | exact: r_rmsP].
Qed.

(* |Ψ_j| <= r on the support, known beforehand *)
Theorem a_posteriori_bounded (r : R) : 0 <= r -> (forall a i, `|Psi (xs a) i| <= r) -> Ex w (fun S => `[< exists f j, 0 < path_norm f /\
  network_ramp (path_norm f / scale j) S f + 2%:R * scale j * (r * Num.sqrt (2%:R * ln (2%:R * n0%:R * A c (d f)) / m%:R))
    + confidence (d f) j < network_risk f >]%:R) <= delta.
Proof.
move=> r0 Pr; pose bad k j S := exists f, [/\ d f = k, 0 < path_norm f &
  network_ramp (path_norm f / scale j) S f + 2%:R * scale j * (r * Num.sqrt (2%:R * ln (2%:R * n0%:R * A c k) / m%:R)) + confidence k j < network_risk f].
apply: le_trans (union_dj (bad := bad) w0 w1 d01 _).
  apply: Ex_le => // S; case: asboolP => [[f [j [B0 lt]]]|_]; last exact: ler0n.
  by rewrite asboolT ?lexx //; exists (d f), j, f.
move=> k j; have ri : 0 < (scale j)^-1 by rewrite invr_gt0.
have GM (l : 'I_1) g a : G k g -> `|g a| <= r.
  move=> [h hh ->]; rewrite normrM normrX normrN1 expr1n mul1r; apply: le_trans (network_class_le peel _ hh) _.
  by apply: bigmax_le.
have Gneg (l : 'I_1) g : G k g -> G k (fun a => - g a).
  by move=> [h hh gE]; exists (fun y => - h y) => [|a]; [exact: hull_opp | rewrite gE mulrN].
apply: le_trans (margin_bound w0 w1 m0 (ltn0Sn 0) ri (G := fun=> G k) (fun=> G0 k) Gneg GM (shared_delta d01 k j)).
apply: Ex_le => // S; case: asboolP => [[f [fk B0 lt]]|_]; last exact: ler0n.
have [g Gg [rE aE]] := ends B0; rewrite fk in Gg; rewrite /failure asboolT ?lexx //.
have vE a : value (@Ensemble R I 1 1 (fun=> 1) (fun=> ord0) (fun=> g)) a = g a by rewrite /value big_ord1 mul1r.
exists (@Ensemble R I 1 1 (fun=> 1) (fun=> ord0) (fun=> g)); split; first by split; rewrite ?big_ord1 ?normr1.
rewrite /risk /ramp_loss (eq_bigr (fun i => ramp (scale j)^-1 (g (S i)))) => [|i _]; last by rewrite vE.
rewrite (eq_bigr (fun a => w a * ((g a <= 0)%R)%:R)) => [|a _]; last by rewrite vE.
rewrite -rE -aE; apply: le_lt_trans lt; have /andP[d0 _] := d01; rewrite log_priorE // ln1 mulr0 mul0r sqrtr0 mulr0 add0r.
rewrite ler_add2r ler_add2l /penalty big_ord1 normr1 mul1r invrK -mulrA ler_wpmul2l ?ler0n // ler_pmul2l //.
set Q := r * _; rewrite -[X in _ <= X](Ex_const w1 m Q); apply: Ex_le => // S'; rewrite Rad_margins.
apply: (class_complexity peel) => // i.
apply: (@le_trans _ _ (\sum_(k < m) r ^+ 2)); last by rewrite sumr_const card_ord -[_ *+ m]mulr_natl.
by apply: ler_sum => l _; rewrite -real_normK ?num_real // ler_expn2r ?nnegrE.
Qed.
End APosteriori.

(* ReLU c = 3/2, leaky ReLU (3-a)/2, |x| 2, the identity 1 *)
Theorem homogeneous_activations (R : realType) : [/\ homogeneous (@relu R) /\ peels (@relu R) 1 (3%:R / 2%:R),
  forall a : R, `|a| <= 1 -> homogeneous (leaky a) /\ peels (leaky a) 1 ((3%:R - a) / 2%:R),
  homogeneous (fun y : R => `|y|) /\ peels (fun y : R => `|y|) 1 2%:R & homogeneous (@id R) /\ peels (@id R) 1 1].
Proof.
have leaky_hom a : homogeneous (leaky a : R -> R).
  move=> b y; rewrite le_eqVlt => /predU1P[<-|b0]; first by rewrite !mul0r leaky0.
  by rewrite /leaky pmulr_rge0 //; case: ifP => _ //; rewrite mulrCA.
split=> [|a a1||]; split.
- by move=> b y b0; rewrite !reluE leaky_hom.
- exact: peels_relu.
- exact: leaky_hom.
- exact: peels_leaky.
- by move=> b y b0; rewrite normrM ger0_norm.
- apply: (peels_any ltr01) => [x y|]; last exact: normr0.
  by rewrite mul1r; exact: ler_dist_dist.
- by [].
- by apply: (peels_odd ltr01) => // x y; rewrite mul1r.
Qed.
