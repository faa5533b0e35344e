(* lemma-1 as printed is false: 1-Lipschitz φ, the sigmoid, any p and any m >= 1. With Λ_{1,0} = 0 the right side is 0,
   the left side is n_1^(1/q) μ_m/2 > 0. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From mathcomp.classical Require Import boolp classical_sets.
From mathcomp.analysis Require Import reals sequences exp.
From AdaNet Require Import signs suprema exponential norms activations families lemma_1_exact.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.

Lemma sigmoid_lipschitz (R : realType) : lipschitz 1 (@sigmoid R).
Proof.
apply: lip_ordered => x y xy; rewrite mul1r.
set d := y - x; have d0 : 0 <= d by rewrite subr_ge0.
pose a := expR (- x); pose b := expR (- y).
have a0 : 0 < a by exact: expR_gt0.
have b0 : 0 < b by exact: expR_gt0.
have ba : b <= a by rewrite /a /b ler_expR ler_opp2.
have a1 : 1 + a != 0 by rewrite gt_eqF // addr_gt0 ?ltr01.
have b1 : 1 + b != 0 by rewrite gt_eqF // addr_gt0 ?ltr01.
have -> : sigmoid y - sigmoid x = (a - b) / ((1 + a) * (1 + b)).
  by rewrite /sigmoid -/a -/b; field; rewrite a1 b1.
have p0 : 0 < (1 + a) * (1 + b) by rewrite mulr_gt0 ?addr_gt0 ?ltr01.
rewrite ger0_norm; last by rewrite divr_ge0 ?subr_ge0 // ltW.
rewrite ler_pdivr_mulr //.
have bE : b = a * expR (- d) by rewrite /a -expRD /b /d; congr expR; ring.
have : a - b <= a * d.
  rewrite bE -{1}[a]mulr1 -mulrBr ler_pmul2l // ler_subl_addr -ler_subl_addl.
  exact: expR_ge1D.
move/le_trans; apply; rewrite mulrC ler_wpmul2l //.
by rewrite (@le_by R 0 (1 + b + a * b)) ?addr_ge0 ?mulr_ge0 ?ler01 ?ltW //; ring.
Qed.

Section Counterexample.
Variables (R : realType) (p : exponent R) (m : nat).
Definition bad_Lam (k s : nat) : R := if k == 1%N then 0 else 1.
Lemma bad_Lam_ge0 k s : 0 <= bad_Lam k s. Proof. by rewrite /bad_Lam; case: ifP; rewrite ?ler01. Qed.
Definition bad_net : net R := Net (fun=> 1%N) bad_Lam_ge0 p (fun=> @sigmoid R).
Variables (X : Type) (Psi : X -> 'I_1 -> R) (x : 'I_m.+1 -> X).

Lemma bad_H1 h y : H (N := bad_net) Psi 1 h -> h y = 0.
Proof.
move=> /H_inv1[u hu ->]; rewrite big1 // => j _; rewrite (@norm_eq0 R p _ u) ?mul0r //.
by apply/eqP; rewrite eq_le norm_ge0 andbT.
Qed.

Theorem lemma_1_false :
  (forall s, lipschitz 1 (families.phi bad_net s)) /\
  ~ (Rad x (H (N := bad_net) Psi 2) <=
     2%:R * \sum_(1 <= s < 2) Lam bad_net 2 s * root_q p (n bad_net s) * Rad x (H (N := bad_net) Psi s)).
Proof.
split=> [s|]; first exact: sigmoid_lipschitz.
have lb s : locally_bounded (families.phi bad_net s) by exact: lip_bounded (sigmoid_lipschitz (R := R)).
have H0 := H_nonempty (N := bad_net) Psi (ltn0Sn 0).
have Sc (f : (X -> R) -> R) c : (forall h, H (N := bad_net) Psi 1 h -> f h = c) -> Sup (H (N := bad_net) Psi 1) f = c.
  move=> fc; apply/eqP; rewrite eq_le; apply/andP; split; first by apply: Sup_le => // h /fc->.
  by have [h hh] := H0; rewrite -(fc h hh); apply: Sup_ub => //; exists c => g /fc->.
rewrite (@lemma_1_exact R X bad_net Psi m.+1 x 2 lb) // !big_nat1.
have -> : Rad x (H (N := bad_net) Psi 1) = 0.
  rewrite /Rad (eq_E (g := fun=> 0)) ?E_const ?mulr0 // => s; apply: Sc => h hh.
  by rewrite /dot big1 // => i _; rewrite /at_sample (bad_H1 _ hh) mulr0.
have -> : Rad_abs x (@sigmoid R) (H (N := bad_net) Psi 1) = 2%:R^-1 * mu R m.+1.
  rewrite /Rad_abs /mu [RHS]mulrCA; congr (_ * _); rewrite -E_scale; apply: eq_E => s; apply: Sc => h hh.
  rewrite /dot (eq_bigr (fun i => 2%:R^-1 * sg R s i)) => [|i _]; last by rewrite (bad_H1 _ hh) sigmoid0 mulrC.
  by rewrite -mulr_sumr normrM ger0_norm // invr_ge0 ler0n.
rewrite !mulr0; apply/negP; rewrite -ltNge /= mul1r mulr_gt0 ?root_q_gt0 //.
by rewrite pmulr_rgt0 ?invr_gt0 ?ltr0n // mu_gt0.
Qed.
End Counterexample.
