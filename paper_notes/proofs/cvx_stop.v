(* cvx-stop: over the units ||u||_p <= Λ of one layer, w = 0 minimises F(w, u) iff g = Λ||ε||_q S_t/m <= Γ. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From mathcomp.classical Require Import boolp classical_sets.
From mathcomp.analysis Require Import reals.
From AdaNet Require Import signs contraction norms surrogates cvx_closed_form.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Stop.
Variables (R : realType) (Phi dPhi : R -> R) (m N : nat) (y f : 'I_m -> R) (z : 'I_m -> 'I_N -> R) (Gam L : R).
Variables (p q : exponent R).
Hypotheses (pq : conjugate p q) (L0 : 0 <= L) (cv : convex Phi) (der : has_derivative Phi dPhi).
Local Notation F := (objective Phi y f z Gam).
Local Notation ep := (eps dPhi y f z).
Let im : 0 <= (m%:R^-1 : R). Proof. by rewrite invr_ge0 ler0n. Qed.
Let a i := 1 - y i * f i.

Lemma optimal_if w u : norm p u <= L -> L * norm q ep <= Gam -> F 0 u <= F w u.
Proof.
move=> uL gG; rewrite objective0 /objective.
have le1 : m%:R^-1 * (\sum_i Phi (a i) - w * \sum_i dPhi (a i) * y i * unit_at z u i) <=
    m%:R^-1 * \sum_i Phi (1 - y i * (f i + w * unit_at z u i)).
  rewrite ler_wpmul2l // mulr_sumr -sumrB; apply: ler_sum => i _.
  have := above_tangent (a i) (1 - y i * (f i + w * unit_at z u i)) cv der; apply: le_trans.
  by rewrite /a le_eqVlt; apply/orP; left; apply/eqP; move: (Phi _) (dPhi _) (unit_at _ _ _) => *; ring.
rewrite mulrBr mulrCA -slope_at_0 in le1.
have le2 : w * (\sum_j u j * ep j) <= Gam * `|w|.
  apply: le_trans (ler_norm _) _; rewrite normrM mulrC ler_wpmul2r //; apply: le_trans gG.
  by apply: le_trans (hoelder_abs u ep pq) _; rewrite ler_wpmul2r // norm_ge0.
rewrite /a in le1; move: (\sum_j u j * ep j) (m%:R^-1 * \sum_i Phi (1 - y i * f i)) le1 le2 => s A le1 le2.
by move: (m%:R^-1 * _) le1 => B le1; linear (ler_add le1 le2).
Qed.

Lemma optimal_only_if : 0 <= Gam -> (forall w u, norm p u <= L -> F 0 u <= F w u) -> L * norm q ep <= Gam.
Proof.
move=> G0 opt; have [u uL ug] := attained ep L0 pq; rewrite leNgt; apply/negP => gG; rewrite -ug in gG.
set g := \sum_i _ in ug gG.
pose h i := `|y i * unit_at z u i|; pose B := m%:R^-1 * \sum_i h i.
have B0 : 0 <= B by rewrite mulr_ge0 //; apply: sumr_ge0 => i _; exact: normr_ge0.
have B1 : 0 < B + 1 by rewrite ltr_paddl ?ltr01.
pose e := (g - Gam) / (B + 1); have e0 : 0 < e by rewrite divr_gt0 // subr_gt0.
have /choice[d hd] i : exists d : R, 0 < d /\ forall x, `|x| <= d -> `|Phi (a i + x) - Phi (a i) - dPhi (a i) * x| <= e * `|x|.
  by have [d d0 hd] := der (a i) e0; exists d.
pose K := \sum_i h i / d i; have K0 : 0 <= K.
  by apply: sumr_ge0 => i _; rewrite divr_ge0 ?normr_ge0 // ltW //; have [] := hd i.
have K1 : 0 < K + 1 by rewrite ltr_paddl ?ltr01.
pose w := (K + 1)^-1; have w0 : 0 < w by rewrite invr_gt0.
have le1 : m%:R^-1 * (\sum_i Phi (1 - y i * (f i + w * unit_at z u i))) <=
    m%:R^-1 * (\sum_i Phi (a i) - w * (\sum_i dPhi (a i) * y i * unit_at z u i) + e * w * \sum_i h i).
  rewrite ler_wpmul2l // !mulr_sumr -sumrB -big_split; apply: ler_sum => i _ /=.
  have [d0 hdi] := hd i; have nx : `|- (w * (y i * unit_at z u i))| = w * h i by rewrite normrN normrM gtr0_norm.
  have := hdi (- (w * (y i * unit_at z u i))); rewrite nx.
  have -> : w * h i <= d i.
    rewrite /w ler_pdivr_mull // -ler_pdivr_mulr //; apply: (@le_trans _ _ K); last by rewrite ler_addl ler01.
    rewrite /K (bigD1 i) //= ler_addl; apply: sumr_ge0 => j _; rewrite divr_ge0 ?normr_ge0 // ltW //; by have [] := hd j.
  move=> /(_ isT)/ler_normlP[_]; rewrite (_ : a i + _ = 1 - y i * (f i + w * unit_at z u i)); last by rewrite /a; ring.
  by move/le_by; apply; ring.
have := opt w u uL; rewrite objective0 /objective (gtr0_norm w0) -/a leNgt => /negP; apply.
rewrite mulrDr mulrBr mulrCA -slope_at_0 -/g mulrCA -/B in le1.
have eB : e * (B + 1) = g - Gam by rewrite /e divfK ?gt_eqF.
have le2 : - (w * e) < 0 by rewrite oppr_lt0 mulr_gt0.
apply: (@le_lt_trans _ _ (m%:R^-1 * (\sum_i Phi (a i)) - w * g + e * w * B + Gam * w)); first by rewrite ler_add2r.
rewrite -subr_gt0; rewrite -oppr_gt0 opprK in le2; apply: lt_le_trans le2 _; rewrite le_eqVlt; apply/orP; left; apply/eqP.
have -> : g = e * (B + 1) + Gam by rewrite eB subrK.
by move: (m%:R^-1 * _) => A; ring.
Qed.
End Stop.

Theorem cvx_stop (R : realType) (Phi dPhi : R -> R) (m N : nat) (y f : 'I_m -> R) (z : 'I_m -> 'I_N -> R) (Gam L : R) (p q : exponent R) :
  conjugate p q -> 0 <= L -> 0 <= Gam -> convex Phi -> has_derivative Phi dPhi ->
  (forall w u, norm p u <= L -> objective Phi y f z Gam 0 u <= objective Phi y f z Gam w u) <->
  L * norm q (eps dPhi y f z) <= Gam.
Proof.
move=> pq L0 G0 cv der; split; first exact: optimal_only_if.
by move=> gG w u uL; apply: (optimal_if pq cv der w uL gG).
Qed.
