(* Suprema of a real function over a set of parameters. An unbounded set has sup 0 in this library: finiteness is always a hypothesis. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.classical Require Import boolp classical_sets.
From mathcomp.analysis Require Import reals.
From AdaNet Require Import signs.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.

Section Sup.
Variables (R : realType) (T : Type).
Implicit Types (A : set T) (f g : T -> R).

Definition Sup A f : R := sup [set f t | t in A].
Definition bounded_on A f := exists M, forall t, A t -> f t <= M.

Lemma Sup_ub A f t : bounded_on A f -> A t -> f t <= Sup A f.
Proof.
move=> [M fM] At; apply: sup_ub; last by exists t.
by exists M => _ [u Au <-]; exact: fM.
Qed.
Lemma Sup_le A f c : A !=set0 -> (forall t, A t -> f t <= c) -> Sup A f <= c.
Proof. by move=> [t At] fc; apply: sup_le_ub; [exists (f t), t | move=> _ [u Au <-]; exact: fc]. Qed.
Lemma Sup_near A f (e : R) : A !=set0 -> bounded_on A f -> 0 < e -> exists2 t, A t & Sup A f - e <= f t.
Proof.
move=> [u Au] [M fM] e0; have [|_ [t At <-] /ltW] := @sup_adherent R [set f t | t in A] e e0; last by exists t.
by split; [exists (f u), u | exists M => _ [t At <-]; exact: fM].
Qed.
Lemma eq_Sup A f g : (forall t, A t -> f t = g t) -> Sup A f = Sup A g.
Proof. by move=> fg; congr sup; apply/seteqP; split=> _ [t At <-]; exists t; rewrite ?fg. Qed.
Lemma Sup_mono A f g : A !=set0 -> bounded_on A g -> (forall t, A t -> f t <= g t) -> Sup A f <= Sup A g.
Proof. by move=> A0 Bg fg; apply: Sup_le => // t At; rewrite (le_trans (fg t At)) // Sup_ub. Qed.
Lemma Sup_add_le A f g (c : R) : A !=set0 -> (forall t t', A t -> A t' -> f t + g t' <= c) -> Sup A f + Sup A g <= c.
Proof.
move=> A0 h; rewrite -ler_subr_addr; apply: Sup_le => // t At.
rewrite ler_subr_addr addrC -ler_subr_addr; apply: Sup_le => // t' At'.
by rewrite ler_subr_addr addrC; exact: h.
Qed.
Lemma Sup_scale A f (c : R) : A !=set0 -> bounded_on A f -> 0 <= c -> Sup A (fun t => c * f t) = c * Sup A f.
Proof.
move=> A0 [M fM] c0; have Bf : bounded_on A f by exists M.
apply/eqP; rewrite eq_le; apply/andP; split.
  by apply: Sup_le => // t At; rewrite ler_wpmul2l // Sup_ub.
move: c0; rewrite le_eqVlt => /predU1P[<-|c0].
  by rewrite mul0r; have [t At] := A0; apply: le_trans (@Sup_ub A _ t _ At); rewrite ?mul0r //; exists 0 => u _; rewrite mul0r.
rewrite mulrC -ler_pdivl_mulr //; apply: Sup_le => // t At; rewrite ler_pdivl_mulr // mulrC.
by apply: (@Sup_ub A (fun t => c * f t)) => //; exists (c * M) => u Au; rewrite ler_wpmul2l ?fM // ltW.
Qed.
End Sup.

(* Σ_i σ_i v_i(t) beside a function g(t) of the parameter *)
Section Linear.
Variables (R : realType) (m : nat) (T : Type) (A : set T).
Implicit Types (g : T -> R) (v : T -> 'I_m -> R) (s : signs m).

Definition dot s (a : 'I_m -> R) : R := \sum_i sg R s i * a i.
Definition bounded_at v := forall i, exists M, forall t, A t -> `|v t i| <= M.

Lemma dot_opp s a : dot (opp s) a = - dot s a.
Proof. by rewrite /dot -sumrN; apply: eq_bigr => i _; rewrite sg_opp mulNr. Qed.
Lemma dotN s a : dot s (fun i => - a i) = - dot s a.
Proof. by rewrite /dot -sumrN; apply: eq_bigr => i _; rewrite mulrN. Qed.
Lemma dotZ s c a : dot s (fun i => c * a i) = c * dot s a.
Proof. by rewrite /dot mulr_sumr; apply: eq_bigr => i _; rewrite mulrCA. Qed.
Lemma dotD s a b : dot s (fun i => a i + b i) = dot s a + dot s b.
Proof. by rewrite /dot -big_split; apply: eq_bigr => i _; rewrite mulrDr. Qed.
Lemma eq_dot s a b : a =1 b -> dot s a = dot s b.
Proof. by move=> ab; apply: eq_bigr => i _; rewrite ab. Qed.
Lemma dot_sum s (I : Type) (r : seq I) (P : pred I) (a : I -> 'I_m -> R) :
  dot s (fun i => \sum_(j <- r | P j) a j i) = \sum_(j <- r | P j) dot s (a j).
Proof. by rewrite /dot exchange_big; apply: eq_bigr => i _; rewrite mulr_sumr. Qed.
Lemma abs_dot_le s a : `|dot s a| <= \sum_i `|a i|.
Proof. by apply: le_trans (ler_norm_sum _ _ _) _; apply: ler_sum => i _; rewrite normrM norm_sg mul1r. Qed.

Lemma bounded_abs v s : bounded_at v -> bounded_on A (fun t => `|dot s (v t)|).
Proof.
move=> /choice[K vK]; exists (\sum_i K i) => t At; apply: le_trans (abs_dot_le _ _) _.
by apply: ler_sum => i _; exact: vK.
Qed.
Lemma bounded_lin g v s : bounded_on A g -> bounded_at v -> bounded_on A (fun t => g t + dot s (v t)).
Proof.
move=> [M gM] /(bounded_abs s)[K vK]; exists (M + K) => t At.
by rewrite ler_add ?gM // (le_trans (ler_norm _)) // vK.
Qed.
Lemma bounded_dot v s : bounded_at v -> bounded_on A (fun t => dot s (v t)).
Proof. by move/(bounded_abs s) => [K vK]; exists K => t At; rewrite (le_trans (ler_norm _)) // vK. Qed.
Lemma bounded_comp (phi : R -> R) v : locally_bounded phi -> bounded_at v -> bounded_at (fun t i => phi (v t i)).
Proof. by move=> lb bv i; have [M vM] := bv i; have [K hK] := lb M; exists K => t At; rewrite hK ?vM. Qed.
End Linear.
