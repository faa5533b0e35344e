(* A differentiable convex Φ lies above its tangents; the step problem of AdaNet.CVX for one layer. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From mathcomp.classical Require Import boolp classical_sets.
From mathcomp.analysis Require Import reals.
From AdaNet Require Import signs contraction.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Surrogate.
Variables (R : realType) (Phi dPhi : R -> R).
Definition has_derivative := forall a e : R, 0 < e -> exists2 d, 0 < d &
  forall h, `|h| <= d -> `|Phi (a + h) - Phi a - dPhi a * h| <= e * `|h|.

Lemma above_tangent (a b : R) : convex Phi -> has_derivative -> Phi a + dPhi a * (b - a) <= Phi b.
Proof.
move=> cv der; have [->|ab] := eqVneq b a; first by rewrite subrr mulr0 addr0.
have h0 : 0 < `|b - a| by rewrite normr_gt0 subr_eq0.
apply/ler_addgt0Pr => e e0; have [d d0 hd] := der a (e / `|b - a|) (divr_gt0 e0 h0).
pose t := Num.min 1 (d / `|b - a|).
have t0 : 0 < t by rewrite lt_minr ltr01 divr_gt0.
have t1 : t <= 1 by rewrite le_minl lexx.
have td : `|t * (b - a)| <= d.
  by rewrite normrM (gtr0_norm t0) -ler_pdivl_mulr // le_minl lexx orbT.
have t01 : 0 <= t <= 1 by rewrite (ltW t0).
have := cv _ b a t01; rewrite (_ : t * b + (1 - t) * a = a + t * (b - a)); last by ring.
have /ler_normlP[le1 _] := hd _ td; rewrite normrM (gtr0_norm t0) in le1.
have ev : e / `|b - a| * (t * `|b - a|) = t * e by rewrite mulrCA divfK // gt_eqF.
rewrite ev in le1.
move=> le2; rewrite -(ler_pmul2l t0).
move: (dPhi a) (Phi a) (Phi b) (Phi (a + t * (b - a))) le1 le2 => x y z w le1 le2.
by linear (ler_add le1 le2).
Qed.

(* F(w, u) = (1/m) Σ_i Φ(1 - y_i (f_i + w u·z_i)) + Γ|w|, and ε_j S_t/m = (1/m) Σ_i Φ'(1 - y_i f_i) y_i z_ij *)
Variables (m N : nat) (y f : 'I_m -> R) (z : 'I_m -> 'I_N -> R) (Gam : R).
Definition unit_at (u : 'I_N -> R) (i : 'I_m) : R := \sum_j u j * z i j.
Definition objective (w : R) (u : 'I_N -> R) : R :=
  m%:R^-1 * (\sum_i Phi (1 - y i * (f i + w * unit_at u i))) + Gam * `|w|.
Definition eps (j : 'I_N) : R := m%:R^-1 * \sum_i dPhi (1 - y i * f i) * y i * z i j.

(* the derivative of the loss at w = 0 is -u·ε *)
Lemma slope_at_0 u : \sum_j u j * eps j = m%:R^-1 * \sum_i dPhi (1 - y i * f i) * y i * unit_at u i.
Proof.
rewrite /eps /unit_at (eq_bigr (fun j => m%:R^-1 * \sum_i u j * (dPhi (1 - y i * f i) * y i * z i j))); last first.
  by move=> j _; rewrite mulrCA mulr_sumr.
rewrite -mulr_sumr exchange_big /=; congr (_ * _); apply: eq_bigr => i _; rewrite mulr_sumr.
by apply: eq_bigr => j _; rewrite mulrCA.
Qed.
Lemma objective0 u : objective 0 u = m%:R^-1 * \sum_i Phi (1 - y i * f i).
Proof. by rewrite /objective normr0 mulr0 addr0; congr (_ * _); apply: eq_bigr => i _; rewrite mul0r addr0. Qed.
End Surrogate.
