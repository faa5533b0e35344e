(* disagreement-certificate, distributions of finite support: g has R(g) <= b with probability 1 - δ_1. n further points of the same law, of which
   only x is looked at; d of them on which f and g differ, or one of them has no answer. With probability 1 - δ_1 - δ_2
     R(f) <= b + max{p : P[Bin(n, p) <= d] >= δ_2}. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.classical Require Import boolp classical_sets.
From mathcomp.analysis Require Import reals.
From AdaNet Require Import signs distributions symmetrisation held_out.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* an answer is a label, or None: a tie, or no number *)
Section Answers.
Variables (X I : Type) (Label : eqType) (xs : I -> X) (ys : I -> Label).
Implicit Types (f g : X -> option Label).
Definition errs f (a : I) : bool := f (xs a) != Some (ys a).
Definition differs f g (x : X) : bool := ~~ (f x && (f x == g x)).
Lemma err_or_differ f g a : errs f a -> errs g a || differs f g (xs a).
Proof.
rewrite /errs /differs; case: (f (xs a)) => [y|] /=; last by rewrite orbT.
by case: (eqVneq (Some y) (g (xs a))) => [->|_ _] /=; rewrite ?orbF ?orbT.
Qed.
End Answers.

Section Disagreement.
Variables (R : realType) (I Omega : finType) (w : I -> R) (v : Omega -> R) (X : Type) (Label : eqType) (xs : I -> X) (ys : I -> Label).
Hypotheses (w0 : forall i, 0 <= w i) (w1 : \sum_i w i = 1) (v0 : forall o, 0 <= v o) (v1 : \sum_o v o = 1).
Variables (f g : Omega -> X -> option Label) (b : Omega -> R) (n : nat) (delta1 delta2 : R).

Lemma rate_split o : error_rate w (errs xs ys (f o)) <= error_rate w (errs xs ys (g o)) + error_rate w (fun a => differs (f o) (g o) (xs a)).
Proof.
rewrite /error_rate -big_split; apply: ler_sum => a _ /=; rewrite -mulrDr ler_wpmul2l // -natrD ler_nat.
by have := @err_or_differ _ _ _ xs ys (f o) (g o) a; case: (errs _ _ (f o) a); case: (errs _ _ (g o) a); case: (differs _ _ _) => //= /(_ isT).
Qed.

(* o is all that training saw, the sample S among it: f, g and b are functions of it; the n points are drawn behind it *)
Theorem disagreement_certificate : 0 <= delta2 ->
  \sum_o v o * ((b o < error_rate w (errs xs ys (g o)))%R)%:R <= delta1 ->
  \sum_o v o * Ex w (fun U : {ffun 'I_n -> I} =>
    ((b o + clopper_pearson n (errors (fun a => differs (f o) (g o) (xs a)) U) delta2 < error_rate w (errs xs ys (f o)))%R)%:R) <= delta1 + delta2.
Proof.
move=> d2 gb; apply: le_trans (ler_add gb (lexx delta2)).
have {2}-> : delta2 = \sum_o v o * delta2 by rewrite -mulr_suml v1 mul1r.
rewrite -big_split; apply: ler_sum => o _ /=; rewrite -mulrDr ler_wpmul2l //.
have := held_out (fun a => differs (f o) (g o) (xs a)) w0 w1 n d2; set H := Ex w _ => le2; apply: le_trans (ler_add (lexx _) le2).
rewrite -[X in _ <= X + _](Ex_const w1 n) -Ex_add; apply: Ex_le => // U.
case: (ltP (b o + _)) => [lt|_]; last by rewrite addr_ge0 ?ler0n.
have [_|gr] := ltP (b o); first by rewrite ler_addl ler0n.
rewrite add0r; case: ltP => // le; by have := lt_le_trans lt (le_trans (rate_split o) (ler_add gr le)); rewrite ltxx.
Qed.
End Disagreement.
