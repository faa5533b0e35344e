(* cvx-decrease: where Φ lies below its tangent plus τ(b-a)²/2 (Φ'' <= τ), the step along a unit h lowers F by (g - Γ)²/(2τ mean(h²)), g = u·ε S_t/m >= Γ. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From mathcomp.analysis Require Import reals.
From AdaNet Require Import signs contraction norms surrogates cvx_closed_form.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Definition smooth (R : realType) (Phi dPhi : R -> R) (tau : R) :=
  forall a b, Phi b <= Phi a + dPhi a * (b - a) + tau * (b - a) ^+ 2 / 2%:R.
Definition mean_square (R : realType) (m N : nat) (z : 'I_m -> 'I_N -> R) (u : 'I_N -> R) : R :=
  m%:R^-1 * \sum_i unit_at z u i ^+ 2.

Section Decrease.
Variables (R : realType) (Phi dPhi : R -> R) (m N : nat) (y f : 'I_m -> R) (z : 'I_m -> 'I_N -> R) (Gam tau : R).
Hypotheses (sm : smooth Phi dPhi tau) (y1 : forall i, y i ^+ 2 = 1).
Local Notation F := (objective Phi y f z Gam).
Local Notation ep := (eps dPhi y f z).

Lemma quadratic_bound w u : 0 <= w ->
  F w u <= F 0 u - (\sum_j u j * ep j - Gam) * w + tau * mean_square z u * w ^+ 2 / 2%:R.
Proof.
move=> w0; rewrite objective0 /objective (ger0_norm w0) slope_at_0 /mean_square.
have im : 0 <= (m%:R^-1 : R) by rewrite invr_ge0 ler0n.
set a := fun i => 1 - y i * f i.
have le1 : m%:R^-1 * (\sum_i Phi (1 - y i * (f i + w * unit_at z u i))) <=
    m%:R^-1 * (\sum_i Phi (a i) - w * (\sum_i dPhi (a i) * y i * unit_at z u i) + tau * w ^+ 2 / 2%:R * \sum_i unit_at z u i ^+ 2).
  rewrite ler_wpmul2l // !mulr_sumr -sumrB -big_split; apply: ler_sum => i _ /=.
  have := sm (a i) (1 - y i * (f i + w * unit_at z u i)).
  rewrite (_ : 1 - _ - a i = - (w * (y i * unit_at z u i))); last by rewrite /a; ring.
  rewrite sqrrN !exprMn y1 mul1r => /le_by; apply.
  by field.
rewrite -/(a _); move: (m%:R^-1) (\sum_i Phi (a i)) (\sum_i dPhi _ * _ * _) (\sum_i unit_at z u i ^+ 2) (\sum_i Phi _) le1 => M A B C D le1.
by apply: (le_by le1); field.
Qed.

Theorem cvx_decrease u : 0 < tau * mean_square z u -> Gam <= \sum_j u j * ep j ->
  exists2 w, 0 <= w & F w u <= F 0 u - (\sum_j u j * ep j - Gam) ^+ 2 / (2%:R * (tau * mean_square z u)).
Proof.
set g := \sum_j _; set c := tau * _ => c0 gG; exists ((g - Gam) / c); first by rewrite divr_ge0 ?subr_ge0 // ltW.
apply: le_trans (quadratic_bound _ _) _; first by rewrite divr_ge0 ?subr_ge0 // ltW.
rewrite -/g -/c; move: (F 0 u) (gt_eqF c0) => A cn; clearbody g c.
by rewrite le_eqVlt; apply/orP; left; apply/eqP; field; rewrite cn.
Qed.
End Decrease.
