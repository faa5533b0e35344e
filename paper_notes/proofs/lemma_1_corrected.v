(* lemma-1-corrected: R_S(H_k) <= Σ_s Λ_{k,s} n_s^(1/q) [c_s R_S(H_s) + |φ_s(0)| μ_m], c_s any split of φ_s:
   2L, L for odd φ, |a+b|/2 + (b-a) for slopes in [a, b], so 3/2 for ReLU and (3-a)/2 for leaky ReLU. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From mathcomp.classical Require Import boolp classical_sets.
From mathcomp.analysis Require Import reals.
From AdaNet Require Import signs suprema norms contraction activations families lemma_1_exact.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.

(* max(A, B) <= A + B needs A, B >= 0 *)
Lemma larger_of_two (R : realFieldType) (x a b : R) : 0 <= a -> 0 <= b -> x <= a -> - x <= b -> `|x| <= a + b.
Proof.
move=> a0 b0 xa xb; rewrite ler_norml; apply/andP; split.
- by rewrite ler_oppl (le_trans xb) // ler_addr.
- by rewrite (le_trans xa) // ler_addl.
Qed.

Section Family.
Variables (R : realType) (X : Type) (m : nat) (x : 'I_m -> X) (F : set (X -> R)).
Hypotheses (F0 : F (fun=> 0)) (Fneg : forall h, F h -> F (fun y => - h y)) (bF : bounded_at F (at_sample x)).
Let Fne : F !=set0. Proof. by exists (fun=> 0). Qed.
Local Notation S psi s := (Sup F (fun h => dot s (fun i => psi (h (x i))))).

Lemma S_bounded (psi : R -> R) s : locally_bounded psi -> bounded_on F (fun h => dot s (fun i => psi (h (x i)))).
Proof. by move=> lb; apply: bounded_dot; apply: bounded_comp bF. Qed.

Lemma S_contraction (psi : R -> R) (L : R) : lipschitz L psi -> m%:R^-1 * E (fun s : signs m => S psi s) <= L * Rad x F.
Proof.
move=> lip; have L0 := lip_ge0 lip; have lipL := @lip_scale R L.
rewrite /Rad [L * _]mulrCA ler_wpmul2l ?invr_ge0 ?ler0n // -E_scale.
have g0 : bounded_on F (fun=> 0 : R) by exists 0.
have bL : bounded_at F (fun h i => L * h (x i)) by exact: (bounded_comp (lip_bounded lipL) bF).
have := @contraction_coordinates R m _ F Fne (fun=> 0) (fun h i => psi (h (x i))) (fun h i => L * h (x i)) g0 _ bL.
move=> /(_ (bounded_comp (lip_bounded lip) bF)) h.
apply: (@le_trans _ _ (E (fun s : signs m => Sup F (lin (fun=> 0) (fun h i => psi (h (x i))) s)))).
  by apply: E_le => s; rewrite (eq_Sup (g := lin (fun=> 0) (fun h i => psi (h (x i))) s)) // => t _; rewrite /lin add0r.
apply: le_trans (h _) _ => [j t t' _ _|]; first by rewrite -mulrBr normrM (ger0_norm L0).
apply: E_le => s; apply: Sup_le => // t Ft; rewrite /lin add0r dotZ ler_wpmul2l //.
by apply: (Sup_ub (f := fun h => dot s (at_sample x h))) => //; apply: bounded_dot.
Qed.

Theorem Rad_abs_le (phi : R -> R) (c : R) : splits phi c -> Rad_abs x phi F <= c * Rad x F + `|phi 0| * mu R m.
Proof.
move=> [o [g [L1 [L2 [[phiE od g0 lo lg] <-]]]]].
have bo s := S_bounded s (lip_bounded lo); have bg s := S_bounded s (lip_bounded lg).
have A0 s : 0 <= S g s.
  apply: (le_trans _ (Sup_ub (bg s) F0)); rewrite /dot big1 // => i _; by rewrite g0 mulr0.
have pt s : Sup F (fun h => `|dot s (fun i => phi (h (x i)))|) <=
    (S o s + (S g s + S g (opp s))) + `|phi 0| * `|\sum_i sg R s i|.
  apply: Sup_le => // h Fh.
  have -> : dot s (fun i => phi (h (x i))) =
     (dot s (fun i => o (h (x i))) + dot s (fun i => g (h (x i)))) + phi 0 * \sum_i sg R s i.
    rewrite -dotD /dot mulr_sumr -big_split; apply: eq_bigr => i _ /=.
    by rewrite (phiE (h (x i))); move: (phi 0) (o _) (g _) => *; ring.
  rewrite (le_trans (ler_norm_add _ _)) // normrM ler_add2r.
  rewrite (le_trans (ler_norm_add _ _)) //; apply: ler_add.
  - rewrite ler_norml ler_oppl; apply/andP; split; last exact: (Sup_ub (bo s)).
    apply: le_trans (Sup_ub (bo s) (Fneg Fh)); rewrite -dotN.
    by rewrite le_eqVlt; apply/orP; left; apply/eqP/eq_dot => i; rewrite od.
  - apply: larger_of_two; [exact: A0 | exact: A0 | exact: (Sup_ub (bg s)) |].
    by rewrite -dot_opp; exact: (Sup_ub (bg (opp s))).
rewrite /Rad_abs; have im : (0 : R) <= m%:R^-1 by rewrite invr_ge0 ler0n.
apply: le_trans (ler_wpmul2l im (E_le pt)) _.
rewrite !E_add E_scale (E_opp (fun s => S g s)) /mu.
have h1 := S_contraction lo; have h2 := S_contraction lg.
move: (m%:R^-1) (E _) (E _) (E _) (Rad x F) h1 h2 => M a b d r h1 h2.
by linear (ler_add h1 (ler_add h2 h2)).
Qed.
End Family.

Theorem lemma_1_corrected (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R) (m : nat) (x : 'I_m -> X)
    (k : nat) (c : nat -> R) : (1 < k)%N -> (forall s, splits (phi N s) (c s)) ->
  Rad x (H Psi k) <=
  \sum_(1 <= s < k) Lam N k s * root_q (p N) (n N s) * (c s * Rad x (H Psi s) + `|phi N s 0| * mu R m).
Proof.
move=> k1 sp; have lb s := splits_bounded (sp s).
rewrite lemma_1_exact // big_nat [X in _ <= X]big_nat; apply: ler_sum => s /andP[s0 _].
apply: ler_wpmul2l; first exact: Lamq_ge0.
by apply: Rad_abs_le => //; [exact: H_zero | move=> h; exact: H_opp | exact: H_bounded_at].
Qed.

(* the constants *)
Section Constants.
Variables (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R) (m : nat) (x : 'I_m -> X) (k : nat).
Hypothesis k1 : (1 < k)%N.
Local Notation RS s := (Rad x (H Psi s)).
Local Notation Lq s := (Lam N k s * root_q (p N) (n N s)).

Corollary lemma_1_lipschitz (L : R) : (forall s, lipschitz L (phi N s)) ->
  RS k <= \sum_(1 <= s < k) Lq s * (2%:R * L * RS s + `|phi N s 0| * mu R m).
Proof. by move=> lip; apply: (lemma_1_corrected Psi x k1 (c := fun=> 2%:R * L)) => // s; exact: splits_lipschitz. Qed.
Corollary lemma_1_slopes (a b : R) : (forall s, slopes a b (phi N s)) ->
  RS k <= \sum_(1 <= s < k) Lq s * ((`|a + b| / 2%:R + (b - a)) * RS s + `|phi N s 0| * mu R m).
Proof. by move=> sl; apply: (lemma_1_corrected Psi x k1 (c := fun=> `|a + b| / 2%:R + (b - a))) => // s; exact: splits_slopes. Qed.

Let at0 (c : R) : (forall s, phi N s 0 = 0) -> (forall s, splits (phi N s) c) ->
  RS k <= c * \sum_(1 <= s < k) Lq s * RS s.
Proof.
move=> p0 sp; apply: le_trans (lemma_1_corrected (c := fun=> c) Psi x k1 sp) _; rewrite le_eqVlt mulr_sumr.
by apply/orP; left; apply/eqP/eq_bigr => s _; rewrite p0 normr0 mul0r addr0 mulrCA.
Qed.
(* Lemma 1 as printed, with the assumption it lacks *)
Corollary lemma_1_printed : (forall s, lipschitz 1 (phi N s)) -> (forall s, phi N s 0 = 0) ->
  RS k <= 2%:R * \sum_(1 <= s < k) Lq s * RS s.
Proof. by move=> lip p0; apply: at0 => // s; have := splits_lipschitz (lip s); rewrite mulr1. Qed.
Corollary lemma_1_odd (L : R) : (forall s, lipschitz L (phi N s)) -> (forall s, odd_fun (phi N s)) ->
  RS k <= L * \sum_(1 <= s < k) Lq s * RS s.
Proof. by move=> lip od; apply: at0 => s; [exact: odd0 | exact: splits_odd]. Qed.
Corollary lemma_1_relu : (forall s, phi N s = @relu R) -> RS k <= 3%:R / 2%:R * \sum_(1 <= s < k) Lq s * RS s.
Proof. by move=> pr; apply: at0 => s; rewrite pr; [exact: relu0 | exact: splits_relu]. Qed.
Corollary lemma_1_leaky (a : R) : `|a| <= 1 -> (forall s, phi N s = leaky a) ->
  RS k <= (3%:R - a) / 2%:R * \sum_(1 <= s < k) Lq s * RS s.
Proof. by move=> a1 pr; apply: at0 => s; rewrite pr; [exact: leaky0 | exact: splits_leaky]. Qed.
End Constants.
