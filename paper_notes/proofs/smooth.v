(* Φ'' <= τ, as a bound τ on the slopes of Φ', is what cvx-decrease asks; the logistic Φ(x) = log(1 + e^x) has τ = 1/4. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From mathcomp.classical Require Import boolp classical_sets functions mathcomp_extra.
From mathcomp.analysis Require Import reals signed topology normedtype sequences derive realfun exp.
From AdaNet Require Import signs activations distributions slopes surrogates cvx_decrease.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Import numFieldNormedType.Exports.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.

Section Smooth.
Variables (R : realType) (Phi dPhi : R -> R) (tau : R).
Hypotheses (der : forall t : R, is_derive t 1 Phi (dPhi t)) (sl : forall a b, a <= b -> dPhi b - dPhi a <= tau * (b - a)).
Let room a (b : R) : R := dPhi a * b + tau / 2%:R * (b - a) ^+ 2 - Phi b.
Let derive_room (a t : R) : is_derive t 1 (room a) (dPhi a + tau * (t - a) - dPhi t).
Proof.
have d := der t.
rewrite /room (_ : (fun _ => _) = ((dPhi a \*: id) + ((tau / 2%:R : R) \*: ((id + cst (- a)) ^+ 2))) - Phi); last first.
  by apply/funext => y.
apply: is_derive_eq; rewrite /= /GRing.scale /= expr1 (_ : (id + cst (- a)) t = t - a) //.
by move: (dPhi a) (dPhi t) => u y; field.
Qed.
Theorem smooth_slopes : smooth Phi dPhi tau.
Proof.
move=> a b; suff h : room a a <= room a b.
  by move: h; rewrite /room subrr expr0n mulr0 addr0 => h; apply: (le_by h); field.
have [ab|ba|->] := ltgtP a b; last by rewrite lexx.
- have [c] := MVT ab (fun t _ => derive_room a t) (continuous_derive (derive_room a)).
  rewrite in_itv /= => /andP[ac _] e; rewrite -subr_ge0 e mulr_ge0 ?subr_ge0 ?(ltW ab) //.
  by have := sl (ltW ac); rewrite ler_subl_addl.
- have [c] := MVT ba (fun t _ => derive_room a t) (continuous_derive (derive_room a)).
  rewrite in_itv /= => /andP[_ ca] e; rewrite -subr_le0 e mulr_le0_ge0 ?subr_ge0 ?(ltW ba) // subr_le0.
  by have := sl (ltW ca) => h; apply: (le_by h); ring.
Qed.
End Smooth.

Theorem smooth_logistic (R : realType) : smooth (@softplus R) (@sigmoid R) 4%:R^-1.
Proof.
apply: smooth_slopes => [t|a b ab]; last by have /andP[] := slopes_sigmoid ab.
have p0 : 0 < 1 + expR t by rewrite addr_gt0 ?ltr01 ?expR_gt0.
have d1 : is_derive t 1 (fun y : R => 1 + expR y) (expR t).
  rewrite (_ : (fun _ => _) = cst (1 : R) + @expR R); last by apply/funext.
  by apply: is_derive_eq; rewrite add0r.
have d2 := is_derive1_ln p0.
have d3 : is_derive t 1 (@ln R \o (fun y => 1 + expR y)) ((1 + expR t)^-1 * expR t) by exact: is_derive1_comp.
rewrite (_ : @softplus R = @ln R \o (fun y => 1 + expR y)); last by apply/funext.
apply: is_derive_eq; rewrite /sigmoid expRN; have := expR_gt0 t; move: (expR t) p0 => e p0 e0.
by field; rewrite !gt_eqF // addrC.
Qed.
