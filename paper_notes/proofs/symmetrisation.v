(* Draws in pairs, swapped by signs; one draw of a sample; the deviation of a family behind its complexity. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From mathcomp.classical Require Import boolp classical_sets.
From mathcomp.analysis Require Import reals sequences exp.
From AdaNet Require Import signs suprema contraction exponential distributions.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.

Lemma eq_Ex (R : realType) (I : finType) (w : I -> R) m (f g : {ffun 'I_m -> I} -> R) : f =1 g -> Ex w f = Ex w g.
Proof. by move=> fg; apply: eq_bigr => s _; rewrite fg. Qed.

Section Pairs.
Variables (R : realType) (I J : finType) (w : I -> R) (v : J -> R) (m : nat).
Definition both (q : I * J) : R := w q.1 * v q.2.
Definition pairs (s : {ffun 'I_m -> I}) (s' : {ffun 'I_m -> J}) : {ffun 'I_m -> I * J} := [ffun i => (s i, s' i)].
Lemma Ex_pairs (f : {ffun 'I_m -> I * J} -> R) : Ex both f = Ex w (fun s => Ex v (fun s' => f (pairs s s'))).
Proof.
rewrite /Ex (reindex (fun q : {ffun 'I_m -> I} * {ffun 'I_m -> J} => pairs q.1 q.2)) /=; last first.
  exists (fun z : {ffun 'I_m -> I * J} => ([ffun i => (z i).1], [ffun i => (z i).2])) => [[s s'] _|z _] /=.
    by congr pair; apply/ffunP => i; rewrite !ffunE.
  by apply/ffunP => i; rewrite !ffunE -surjective_pairing.
rewrite -(pair_bigA _ (fun s s' => (\prod_i both (pairs s s' i)) * f (pairs s s'))) /=.
apply: eq_bigr => s _; rewrite mulr_sumr; apply: eq_bigr => s' _; rewrite mulrA -big_split /=.
by congr (_ * _); apply: eq_bigr => i _; rewrite ffunE.
Qed.
Lemma both_ge0 : (forall i, 0 <= w i) -> (forall j, 0 <= v j) -> forall q, 0 <= both q.
Proof. by move=> w0 v0 q; rewrite mulr_ge0. Qed.
Lemma both_sum : \sum_i w i = 1 -> \sum_j v j = 1 -> \sum_q both q = 1.
Proof.
move=> w1 v1; rewrite -(pair_bigA _ (fun i j => w i * v j)) /= -[RHS]w1; apply: eq_bigr => i _.
by rewrite -mulr_sumr v1 mulr1.
Qed.
End Pairs.

Section Swap.
Variables (R : realType) (I : finType) (w : I -> R) (m : nat).
Definition swap (s : signs m) (z : {ffun 'I_m -> I * I}) : {ffun 'I_m -> I * I} :=
  [ffun i => if s i then ((z i).2, (z i).1) else z i].
Lemma swapK s : involutive (swap s).
Proof. by move=> z; apply/ffunP => i; rewrite !ffunE; case: (s i) => //=; rewrite -surjective_pairing. Qed.
Lemma Ex_swap s (f : {ffun 'I_m -> I * I} -> R) : Ex (both w w) (fun z => f (swap s z)) = Ex (both w w) f.
Proof.
rewrite /Ex [in RHS](reindex_inj (can_inj (swapK s))); apply: eq_bigr => z _; congr (_ * _).
by apply: eq_bigr => i _; rewrite ffunE; case: (s i) => //=; rewrite /both /= mulrC.
Qed.
(* one draw of the sample *)
Lemma Ex_one (f : I -> R) i : \sum_a w a = 1 -> Ex w (fun s : {ffun 'I_m -> I} => f (s i)) = \sum_a w a * f a.
Proof.
move=> w1; rewrite /Ex (eq_bigr (fun s : {ffun 'I_m -> I} => \prod_j (w (s j) * (if j == i then f (s j) else 1)))); last first.
  move=> s _; rewrite big_split /=; congr (_ * _); rewrite (bigD1 i) //= eqxx big1 ?mulr1 // => j /negbTE->.
  by [].
rewrite -(bigA_distr_bigA (fun j a => w a * (if j == i then f a else 1))) (bigD1 i) //= [X in _ * X]big1 ?mulr1.
  by apply: eq_bigr => a _; rewrite eqxx.
by move=> j /negbTE ji; rewrite -[RHS]w1; apply: eq_bigr => a _; rewrite ji mulr1.
Qed.
End Swap.

Section Mean.
Variables (R : realType) (I : finType) (w : I -> R) (m : nat).
Hypotheses (w0 : forall i, 0 <= w i) (w1 : \sum_i w i = 1) (m0 : (0 < m)%N).
Implicit Types (S : {ffun 'I_m -> I}).

Lemma Ex_mean (f : I -> R) : Ex w (fun S : {ffun 'I_m -> I} => m%:R^-1 * \sum_i f (S i)) = \sum_a w a * f a.
Proof.
rewrite Ex_scale /Ex (eq_bigr (fun S : {ffun 'I_m -> I} => \sum_i (\prod_j w (S j)) * f (S i))) => [|S _]; last first.
  by rewrite mulr_sumr.
rewrite exchange_big /= (eq_bigr (fun=> \sum_a w a * f a)) => [|i _]; last exact: Ex_one.
by rewrite sumr_const card_ord -[X in _ * X = _]mulr_natl mulrA mulVf ?mul1r // pnatr_eq0 -lt0n.
Qed.
Lemma E_Ex_exchange (f : signs m -> {ffun 'I_m -> I} -> R) : E (fun s => Ex w (f s)) = Ex w (fun S => E (f^~ S)).
Proof.
rewrite /E /Ex exchange_big mulr_suml; apply: eq_bigr => S _.
by rewrite -mulr_sumr mulrA.
Qed.

(* sup_θ [E f_θ - E_S f_θ - 2 g_θ] has mean at most 2 E sup_θ [(1/m) Σ_i σ_i f_θ(x_i) - g_θ] *)
Variables (Th : Type) (A : set Th) (f : Th -> I -> R) (g : Th -> R).
Hypotheses (A0 : A !=set0) (f01 : forall th a, 0 <= f th a <= 1) (g0 : forall th, A th -> 0 <= g th).
Definition deviation S (th : Th) : R := \sum_a w a * f th a - m%:R^-1 * (\sum_i f th (S i)) - 2%:R * g th.
Let im : 0 <= (m%:R^-1 : R). Proof. by rewrite invr_ge0 ler0n. Qed.

Lemma mean01 S th : 0 <= m%:R^-1 * (\sum_i f th (S i)) <= 1.
Proof.
rewrite mulr_ge0 ?sumr_ge0 //=; last by move=> i _; case/andP: (f01 th (S i)).
rewrite ler_pdivr_mull ?ltr0n // mulr1.
apply: (@le_trans _ _ (\sum_(i < m) 1)); first by apply: ler_sum => i _; case/andP: (f01 th (S i)).
by rewrite sumr_const card_ord.
Qed.
Lemma dot01 s S th : m%:R^-1 * dot s (fun i => f th (S i)) <= 1.
Proof.
apply: (@le_trans _ _ (m%:R^-1 * \sum_i f th (S i))); last by case/andP: (mean01 S th).
rewrite ler_wpmul2l //; apply: le_trans (ler_norm _) _; apply: le_trans (abs_dot_le _ _) _.
by apply: ler_sum => i _; rewrite ger0_norm //; case/andP: (f01 th (S i)).
Qed.
Lemma bounded_deviation S : bounded_on A (deviation S).
Proof.
exists 1 => th Ath; rewrite /deviation -addrA -opprD ler_subl_addr ler_paddr //.
  by have /andP[h1 _] := mean01 S th; rewrite addr_ge0 // mulr_ge0 ?ler0n // g0.
rewrite -[X in _ <= X]w1; apply: ler_sum => a _; rewrite ler_pimulr //; by case/andP: (f01 th a).
Qed.

Theorem symmetrisation : Ex w (fun S => Sup A (deviation S)) <=
  2%:R * Ex w (fun S => E (fun s => Sup A (fun th => - g th + dot s (fun i => m%:R^-1 * f th (S i))))).
Proof.
pose K (s : signs m) (z : {ffun 'I_m -> I * I}) th : R :=
  m%:R^-1 * (dot s (fun i => f th (z i).2) - dot s (fun i => f th (z i).1)) - 2%:R * g th.
pose one : signs m := [ffun=> false].
have dot1 (b : 'I_m -> R) : dot one b = \sum_i b i by apply: eq_bigr => i _; rewrite /sg ffunE expr0 mul1r.
pose S1 (z : {ffun 'I_m -> I * I}) : {ffun 'I_m -> I} := [ffun i => (z i).1].
pose S2 (z : {ffun 'I_m -> I * I}) : {ffun 'I_m -> I} := [ffun i => (z i).2].
have e1 (z : {ffun 'I_m -> I * I}) th s : dot s (fun i => f th (z i).1) = dot s (fun i => f th (S1 z i)) by apply: eq_dot => i; rewrite ffunE.
have e2 (z : {ffun 'I_m -> I * I}) th s : dot s (fun i => f th (z i).2) = dot s (fun i => f th (S2 z i)) by apply: eq_dot => i; rewrite ffunE.
have bK s z : bounded_on A (K s z).
  exists 2%:R => th Ath; have h1 := dot01 s (S2 z) th; have h2 := dot01 (opp s) (S1 z) th; have h3 := g0 Ath.
  by rewrite /K e1 e2; rewrite dot_opp in h2; linear (ler_add (ler_add h1 h2) (ler_add h3 h3)).
have st1 : Ex w (fun S => Sup A (deviation S)) <= Ex (both w w) (fun z => Sup A (K one z)).
  rewrite Ex_pairs; apply: Ex_le => // S; apply: Sup_le => // th Ath.
  have -> : deviation S th = Ex w (fun S' => K one (pairs S S') th).
    rewrite (eq_Ex w (f := fun S' => K one (pairs S S') th) (g := fun S' => m%:R^-1 * (\sum_i f th (S' i)) +
      (- (m%:R^-1 * \sum_i f th (S i)) - 2%:R * g th))) => [|S'].
      by rewrite Ex_add Ex_const // Ex_mean // addrA.
    rewrite /K !dot1; have -> : \sum_i f th (pairs S S' i).2 = \sum_i f th (S' i) by apply: eq_bigr => i _; rewrite ffunE.
    have -> : \sum_i f th (pairs S S' i).1 = \sum_i f th (S i) by apply: eq_bigr => i _; rewrite ffunE.
    by move: (\sum_i _) (\sum_i _) => *; ring.
  by apply: Ex_le => // S'; apply: Sup_ub.
have st2 s : Ex (both w w) (fun z => Sup A (K one z)) = Ex (both w w) (fun z => Sup A (K s z)).
  rewrite -(Ex_swap w s); apply: eq_Ex => z; apply: eq_Sup => th _; rewrite /K -!dotN -!dotD; congr (_ * _ - _).
  by apply: eq_bigr => i _; rewrite /sg !ffunE; case: (s i); rewrite /= ?expr0 ?expr1; ring.
apply: le_trans st1 _; rewrite -(E_const m (Ex _ _)) (eq_E st2).
pose G s (S : {ffun 'I_m -> I}) := Sup A (fun th => - g th + dot s (fun i => m%:R^-1 * f th (S i))).
have bG s S : bounded_on A (fun th => - g th + dot s (fun i => m%:R^-1 * f th (S i))).
  by exists 1 => th Ath; rewrite dotZ -[X in _ <= X]add0r ler_add ?dot01 // oppr_le0 g0.
have le1 : E (fun s => Ex (both w w) (fun z => Sup A (K s z))) <= E (fun s => Ex w (fun S => G (opp s) S) + Ex w (fun S => G s S)).
  apply: E_le => s; rewrite Ex_pairs.
  apply: (@le_trans _ _ (Ex w (fun S => Ex w (fun S' => G (opp s) S + G s S')))).
    apply: Ex_le => // S; apply: Ex_le => // S'; apply: Sup_le => // th Ath.
    have h1 := Sup_ub (bG (opp s) S) Ath; have h2 := Sup_ub (bG s S') Ath.
    apply: le_trans (ler_add h1 h2); rewrite /K !dotZ dot_opp le_eqVlt; apply/orP; left; apply/eqP.
    rewrite [dot s (fun i => f th (pairs S S' i).1)](eq_dot s (b := fun i => f th (S i))) => [|i]; last by rewrite ffunE.
    rewrite [dot s (fun i => f th (pairs S S' i).2)](eq_dot s (b := fun i => f th (S' i))) => [|i]; last by rewrite ffunE.
    by ring.
  rewrite (eq_Ex w (g := fun S => G (opp s) S + Ex w (fun S' => G s S'))) => [|S]; last by rewrite Ex_add Ex_const.
  by rewrite Ex_add Ex_const.
apply: le_trans le1 _; rewrite E_add (E_opp (fun s => Ex w (G s))) mulr_natl mulr2n.
by rewrite E_Ex_exchange.
Qed.
End Mean.
