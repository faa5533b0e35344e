(* range: |h(x)| <= M_k on H_k, M_1 = Λ_{1,0} n_0^(1/q) r, M_k = Σ_s Λ_{k,s} n_s^(1/q) min{L_s M_s + |φ_s(0)|, sup|φ_s|}. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.classical Require Import boolp classical_sets.
From mathcomp.analysis Require Import reals.
From AdaNet Require Import signs norms families recursions.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* min{y, b}, where no b is an unbounded activation *)
Definition capped (R : realType) (b : option R) (y : R) : R := if b is Some c then Num.min y c else y.
Definition M (R : realType) (N : net R) (L : nat -> R) (b : nat -> option R) (r : R) : nat -> R :=
  sums (Lam N 1 0 * root_q (p N) (n N 0) * r)
       (fun k s Ms => Lam N k s * root_q (p N) (n N s) * capped (b s) (L s * Ms + `|phi N s 0|)).
Lemma M1 (R : realType) (N : net R) (L : nat -> R) (b : nat -> option R) (r : R) : M N L b r 1 = Lam N 1 0 * root_q (p N) (n N 0) * r.
Proof. exact: sums1. Qed.
Lemma ME (R : realType) (N : net R) (L : nat -> R) (b : nat -> option R) (r : R) k : (1 < k)%N ->
  M N L b r k = \sum_(1 <= s < k) Lam N k s * root_q (p N) (n N s) * capped (b s) (L s * M N L b r s + `|phi N s 0|).
Proof. exact: sumsE. Qed.

Theorem range (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R) (L : nat -> R) (b : nat -> option R) (r : R) :
  (forall s, lipschitz (L s) (phi N s)) -> (forall s c, b s = Some c -> forall y, `|phi N s y| <= c) ->
  0 <= r -> (forall x j, `|Psi x j| <= r) ->
  forall k h x, (0 < k)%N -> H Psi k h -> `|h x| <= M N L b r k.
Proof.
move=> lip cap r0 hr; elim/ltn_ind => -[|[|k]] // IH h x _ hh.
  by rewrite M1; have [u hu ->] := H_inv1 hh; apply: norm_dot_le.
rewrite ME //; have [u [g [hu hg ->]]] := H_inv (isT : 1 < k.+2)%N hh.
apply: le_trans (ler_norm_sum _ _ _) _; rewrite big_nat [X in _ <= X]big_nat; apply: ler_sum => s sk.
have /andP[s0 sk'] := sk.
have phib f : H Psi s f -> `|phi N s (f x)| <= capped (b s) (L s * M N L b r s + `|phi N s 0|).
  move=> hf; have le1 : `|phi N s (f x)| <= L s * M N L b r s + `|phi N s 0|.
    rewrite (le_trans (lip_abs_le _ (lip s))) // ler_add2r ler_wpmul2l ?(lip_ge0 (lip s)) //.
    exact: IH.
  by rewrite /capped; case E : (b s) => [c|] //; rewrite le_minr le1 (cap s).
apply: norm_dot_le => [|t|]; [exact: hu | apply: phib; exact: hg |].
exact: le_trans (normr_ge0 _) (phib _ (H_zero Psi s0)).
Qed.
