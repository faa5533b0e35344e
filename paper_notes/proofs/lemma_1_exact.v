(* lemma-1-exact: R_S(H_k) = Σ_{s<k} Λ_{k,s} n_s^(1/q) (1/m) E sup_{H_s} |Σ_i σ_i φ_s(h(x_i))|,
   for any φ bounded on bounded sets. No duality: Σ|u_t| <= n^(1/q) ||u||_p one way, n_s equal units with equal weights the other. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From mathcomp.classical Require Import boolp classical_sets.
From mathcomp.analysis Require Import reals.
From AdaNet Require Import signs suprema norms families.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.

Section Exact.
Variables (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R) (m : nat) (x : 'I_m -> X).
Hypothesis lb : forall s, locally_bounded (phi N s).
Local Notation H := (H Psi).
Local Notation Lamq := (Lamq N).

Lemma H_bounded_at k : (0 < k)%N -> bounded_at (H k) (at_sample x).
Proof. by move=> k0 i; have [M _ hM] := H_bounded Psi (x i) lb k0; exists M. Qed.
Lemma H_phi_bounded_at k : (0 < k)%N -> bounded_at (H k) (fun h i => phi N k (h (x i))).
Proof. by move=> k0; apply: (bounded_comp (v := at_sample x) (lb k)); exact: H_bounded_at. Qed.

(* Z_k = sup_{H_k} |Σσ_i h|, Y_k = sup_{H_k} |Σσ_i φ_k(h)| *)
Definition Z k (s : signs m) : R := Sup (H k) (fun h => `|dot s (at_sample x h)|).
Definition Y k (s : signs m) : R := Sup (H k) (fun h => `|dot s (fun i => phi N k (h (x i)))|).

Lemma Y_ub k s h : (0 < k)%N -> H k h -> `|dot s (fun i => phi N k (h (x i)))| <= Y k s.
Proof. by move=> k0; apply: (Sup_ub (f := fun h => `|dot s (fun i => phi N k (h (x i)))|)); apply: bounded_abs; exact: H_phi_bounded_at. Qed.
Lemma Y_ge0 k s : (0 < k)%N -> 0 <= Y k s.
Proof. by move=> k0; exact: le_trans (normr_ge0 _) (Y_ub s k0 (H_zero Psi k0)). Qed.
Lemma sup_le_Z k s : (0 < k)%N -> Sup (H k) (fun h => dot s (at_sample x h)) <= Z k s.
Proof.
move=> k0; apply: Sup_mono (H_nonempty _ k0) _ _ => [|h _]; last exact: ler_norm.
by apply: bounded_abs; exact: H_bounded_at.
Qed.

Lemma exchange k (u : forall s, 'I_(n N s) -> R) (g : forall s, 'I_(n N s) -> X -> R) (h : X -> R) s :
  (forall x, h x = \sum_(1 <= j < k) \sum_(t < n N j) u j t * phi N j (g j t x)) ->
  dot s (at_sample x h) = \sum_(1 <= j < k) \sum_(t < n N j) u j t * dot s (fun i => phi N j (g j t (x i))).
Proof.
move=> hE; rewrite (eq_dot s (fun i => hE (x i))).
by rewrite dot_sum; apply: eq_bigr => j _; rewrite dot_sum; apply: eq_bigr => t _; rewrite dotZ.
Qed.

Lemma peel_le k s : (1 < k)%N -> Z k s <= \sum_(1 <= j < k) Lamq k j * Y j s.
Proof.
move=> k1; apply: Sup_le => [|h /(H_inv k1)[u [g [hu hg hE]]]]; first exact: H_nonempty (ltnW k1).
rewrite (exchange s hE); apply: le_trans (ler_norm_sum _ _ _) _.
rewrite big_nat [X in _ <= X]big_nat; apply: ler_sum => j jk; have /andP[j0 _] := jk.
by apply: norm_dot_le => [|t|]; [exact: hu | apply: Y_ub => //; exact: hg | exact: Y_ge0].
Qed.

Lemma peel_ge k s : (1 < k)%N -> \sum_(1 <= j < k) Lamq k j * Y j s <= Sup (H k) (fun h => dot s (at_sample x h)).
Proof.
move=> k1; apply/ler_addgt0Pr => e e0.
pose C := \sum_(1 <= j < k) Lamq k j.
have C0 : 0 <= C by apply: sumr_ge0 => j _; exact: Lamq_ge0.
have C1 : 0 < C + 1 by rewrite ltr_paddl ?ltr01.
pose eps : R := e / (C + 1); have eps0 : 0 < eps by rewrite divr_gt0.
have /choice[f hf] j : exists f, (0 < j)%N -> H j f /\ Y j s - eps <= `|dot s (fun i => phi N j (f (x i)))|.
  case: (posnP j) => [->|j0]; first by exists (fun=> 0).
  have B := bounded_abs s (H_phi_bounded_at j0).
  by have [h hh hs] := Sup_near (H_nonempty Psi j0) B eps0; exists h.
pose z j := dot s (fun i => phi N j (f j (x i))).
pose u j (_ : 'I_(n N j)) : R := Num.sg (z j) * (Lam N k j * inv_root_p (p N) (n N j)).
pose v y := \sum_(1 <= j < k) \sum_(t < n N j) u j t * phi N j (f j y).
have hv : H k v.
  apply: (@H_k _ _ _ _ _ u (fun j _ => f j)) => // [j jk|j t /andP[j0 _]]; last by have [] := hf j j0.
  apply: le_trans (norm_equal (p N) (n N j) (Lam_ge0 N k j)); apply: le_norm => t.
  by rewrite /u normrM ler_pimull // normr_sg; case: (_ != 0); rewrite ?ler01 ?lexx.
have val : dot s (at_sample x v) = \sum_(1 <= j < k) Lamq k j * `|z j|.
  rewrite (@exchange k u (fun j _ => f j) v s) //; apply: eq_bigr => j _.
  rewrite (eq_bigr (fun=> Num.sg (z j) * (Lam N k j * inv_root_p (p N) (n N j)) * z j)) // sumr_const card_ord -[_ *+ _]mulr_natl /Lamq -mul_inv_root_p [`|z j|]normrEsg.
  by move: (Num.sg _) (inv_root_p _ _) => a b; ring.
have le1 : dot s (at_sample x v) <= Sup (H k) (fun h => dot s (at_sample x h)).
  by apply: (Sup_ub _ hv); apply: bounded_dot; exact: H_bounded_at (ltnW k1).
rewrite -ler_subl_addr; apply: le_trans le1; rewrite val.
apply: (@le_trans _ _ (\sum_(1 <= j < k) (Lamq k j * Y j s - Lamq k j * eps))); last first.
  rewrite big_nat [X in _ <= X]big_nat; apply: ler_sum => j /andP[j0 _].
  by rewrite -mulrBr ler_wpmul2l ?Lamq_ge0 //; have [] := hf j j0.
rewrite sumrB ler_add2l ler_opp2 -mulr_suml -/C /eps mulrCA ger_pmulr //.
by rewrite ler_pdivr_mulr // mul1r ler_addl ler01.
Qed.

Lemma sup_H k s : (1 < k)%N -> Sup (H k) (fun h => dot s (at_sample x h)) = \sum_(1 <= j < k) Lamq k j * Y j s.
Proof.
move=> k1; apply/eqP; rewrite eq_le peel_ge // andbT.
exact: le_trans (sup_le_Z s (ltnW k1)) (peel_le s k1).
Qed.
End Exact.

Theorem lemma_1_exact (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R) (m : nat) (x : 'I_m -> X) (k : nat) :
  (forall s, locally_bounded (phi N s)) -> (1 < k)%N ->
  Rad x (H Psi k) = \sum_(1 <= s < k) Lam N k s * root_q (p N) (n N s) * Rad_abs x (phi N s) (H Psi s).
Proof.
move=> lb k1; rewrite /Rad (eq_E (fun s => sup_H Psi x lb s k1)) E_sum mulr_sumr.
by apply: eq_bigr => j _; rewrite E_scale mulrCA.
Qed.
