(* The families H_k with the paper's indices, and their empirical Rademacher complexity R_S.
   A unit of layer k >= 2 reads every layer 1 <= s < k; H*_k is the case Λ_{k,s} = 0 for s < k-1. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From mathcomp.classical Require Import boolp classical_sets mathcomp_extra.
From mathcomp.analysis Require Import reals.
From AdaNet Require Import signs suprema norms.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.

Record net (R : realType) := Net {
  n : nat -> nat;
  Lam : nat -> nat -> R;
  Lam_ge0 : forall k s, 0 <= Lam k s;
  p : exponent R;
  phi : nat -> R -> R }.

Section Families.
Variables (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R).

Inductive H : nat -> (X -> R) -> Prop :=
| H_1 (u : 'I_(n N 0) -> R) h : norm (p N) u <= Lam N 1 0 ->
    (forall x, h x = \sum_j u j * Psi x j) -> H 1 h
| H_k k (u : forall s, 'I_(n N s) -> R) (g : forall s, 'I_(n N s) -> X -> R) h : (1 < k)%N ->
    (forall s, (0 < s < k)%N -> norm (p N) (u s) <= Lam N k s) ->
    (forall s t, (0 < s < k)%N -> H s (g s t)) ->
    (forall x, h x = \sum_(1 <= s < k) \sum_(t < n N s) u s t * phi N s (g s t x)) -> H k h.

(* Λ_{k,s} n_s^(1/q) *)
Definition Lamq k s : R := Lam N k s * root_q (p N) (n N s).

Lemma Lamq_ge0 k s : 0 <= Lamq k s. Proof. by rewrite mulr_ge0 ?Lam_ge0 ?root_q_ge0. Qed.

Lemma H_inv1 h : H 1 h -> exists2 u, norm (p N) u <= Lam N 1 0 & forall x, h x = \sum_j u j * Psi x j.
Proof. by move=> hh; inversion hh as [u ? hu hE|]; first exists u. Qed.
Lemma H_inv k h : (1 < k)%N -> H k h ->
  exists (u : forall s, 'I_(n N s) -> R) (g : forall s, 'I_(n N s) -> X -> R),
  [/\ forall s, (0 < s < k)%N -> norm (p N) (u s) <= Lam N k s, forall s t, (0 < s < k)%N -> H s (g s t) &
      forall x, h x = \sum_(1 <= s < k) \sum_(t < n N s) u s t * phi N s (g s t x)].
Proof.
move=> k1 hh; inversion hh as [u h' hu hE kE|k' u g h' k1' hu hg hE kE]; first by rewrite -kE in k1.
by exists u, g.
Qed.

(* symmetric, and holding 0 *)
Lemma H_zero k : (0 < k)%N -> H k (fun=> 0).
Proof.
elim/ltn_ind: k => -[|[|k]] // IH _.
  apply: (@H_1 (fun=> 0)) => [|x]; first by rewrite norm0 Lam_ge0.
  by rewrite big1 // => j _; rewrite mul0r.
apply: (@H_k _ (fun _ _ => 0) (fun _ _ _ => 0)) => // [s _|s t /andP[s0 sk]|x].
- by rewrite norm0 Lam_ge0.
- exact: IH.
- by rewrite big1_seq // => s _; rewrite big1 // => t _; rewrite mul0r.
Qed.
Lemma H_opp k h : H k h -> H k (fun x => - h x).
Proof.
case=> [u {}h hu hE|{}k u g {}h k1 hu hg hE].
  apply: (@H_1 (fun j => - u j)) => [|x]; first by rewrite normN.
  by rewrite hE -sumrN; apply: eq_bigr => j _; rewrite mulNr.
apply: (@H_k _ (fun s t => - u s t) g) => // [s sk|x]; first by rewrite normN hu.
by rewrite hE -sumrN; apply: eq_bigr => s _; rewrite -sumrN; apply: eq_bigr => t _; rewrite mulNr.
Qed.
Lemma H_nonempty k : (0 < k)%N -> H k !=set0.
Proof. by move=> k0; exists (fun=> 0); exact: H_zero. Qed.

(* Every φ_s bounded on bounded sets: the values at one point are bounded. *)
Lemma H_bounded k x : (forall s, locally_bounded (phi N s)) -> (0 < k)%N ->
  exists2 M, 0 <= M & forall h, H k h -> `|h x| <= M.
Proof.
move=> lb; elim/ltn_ind: k => -[|[|k]] // IH _.
  pose M := \big[Num.max/0]_j `|Psi x j|.
  have M0 : 0 <= M by apply: (big_ind (fun y => 0 <= y)) => // y z y0 z0; rewrite le_maxr y0.
  exists (Lam N 1 0 * root_q (p N) (n N 0) * M); first by rewrite mulr_ge0 // Lamq_ge0.
  move=> h /H_inv1[u hu ->]; apply: norm_dot_le => // t.
  exact: (le_bigmax _ (fun j => `|Psi x j|)).
have /choice[K hK] s : exists K, (0 < s < k.+2)%N -> 0 <= K /\ forall h, H s h -> `|phi N s (h x)| <= K.
  case: (boolP (0 < s < k.+2)%N) => [/andP[s0 sk]|_]; last by exists 0.
  have [M M0 hM] := IH s sk s0; have [K hK] := lb s M; exists K => _; split.
    by apply: le_trans (normr_ge0 (phi N s 0)) (hK _ _); rewrite normr0.
  by move=> h hh; rewrite hK // hM.
exists (\sum_(1 <= s < k.+2) Lamq k.+2 s * K s).
  rewrite big_nat; apply: sumr_ge0 => s sk; rewrite mulr_ge0 ?Lamq_ge0 //; by have [] := hK s sk.
move=> h /(H_inv (isT : 1 < k.+2)%N)[u [g [hu hg ->]]].
apply: le_trans (ler_norm_sum _ _ _) _; rewrite big_nat [X in _ <= X]big_nat; apply: ler_sum => s sk.
by have [K0 Kb] := hK s sk; apply: norm_dot_le => // [|t]; [exact: hu | apply: Kb; exact: hg].
Qed.
End Families.

(* R_S of any family of functions: (1/m) E sup_h Σ_i σ_i h(x_i); and the same of |Σ_i σ_i φ(h(x_i))|. *)
Section Complexity.
Variables (R : realType) (X : Type) (m : nat) (x : 'I_m -> X).
Implicit Types F : set (X -> R).
Definition at_sample (h : X -> R) (i : 'I_m) : R := h (x i).
Definition Rad F : R := m%:R^-1 * E (fun s => Sup F (fun h => dot s (at_sample h))).
Definition Rad_abs (phi : R -> R) F : R :=
  m%:R^-1 * E (fun s => Sup F (fun h => `|dot s (fun i => phi (h (x i)))|)).
End Complexity.
