(* Sequences given by t_k = f(k, t_1 .. t_{k-1}), as P_k, D_k, Q_k and M_k are. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.analysis Require Import reals.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Recursion.
Variables (T : zmodType) (f : nat -> (nat -> T) -> T).
Fixpoint table k : nat -> T := if k is k'.+1 then fun j => if j == k' then f k' (table k') else table k' j else fun=> 0.
Definition recursion k : T := table k.+1 k.

Lemma table_recursion k j : (j < k)%N -> table k j = recursion j.
Proof.
elim: k => // k IH; rewrite ltnS leq_eqVlt => /predU1P[->|jk] //=.
by rewrite (ltn_eqF jk) IH.
Qed.
Lemma recursionE k : (forall t t', (forall s, (0 < s < k)%N -> t s = t' s) -> f k t = f k t') -> recursion k = f k recursion.
Proof. by move=> h; rewrite /recursion /= eqxx; apply: h => s /andP[_]; exact: table_recursion. Qed.
End Recursion.

(* the usual case: a value at layer 1, a sum over the layers below elsewhere *)
Section Sums.
Variables (R : realType) (a : R) (g : nat -> nat -> R -> R).
Definition sums : nat -> R := recursion (fun k t => if k == 1%N then a else \sum_(1 <= s < k) g k s (t s)).
Lemma sums1 : sums 1 = a. Proof. by rewrite /sums recursionE. Qed.
Lemma sumsE k : (1 < k)%N -> sums k = \sum_(1 <= s < k) g k s (sums s).
Proof.
move=> k1; rewrite {1}/sums recursionE; first by rewrite gtn_eqF.
by move=> t t' tt; case: ifP => // _; apply: eq_big_nat => s /tt->.
Qed.
Lemma sums_ge0 k : 0 <= a -> (forall k s t, 0 <= t -> 0 <= g k s t) -> 0 <= sums k.
Proof.
move=> a0 g0; elim/ltn_ind: k => -[|[|k]] IH; rewrite ?sums1 //; first by rewrite /sums /recursion /= big_geq.
by rewrite sumsE // big_nat; apply: sumr_ge0 => s /andP[_ sk]; apply: g0; exact: IH.
Qed.
End Sums.
