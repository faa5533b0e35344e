(* occam-certificate, distributions of finite support: P a sub-probability on networks, fixed before the sample. With probability 1 - δ, for all
   networks h at once, k_h their errors on m draws:   R(h) <= max{p : P[Bin(m, p) <= k_h] >= δ P(h)}.
   A code whose words are no prefixes of one another has Σ 2^-bits <= 1 (Kraft). *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.classical Require Import boolp classical_sets.
From mathcomp.analysis Require Import reals.
From AdaNet Require Import signs distributions symmetrisation one_class held_out.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.

Section Kraft.
Variable R : realType.
Implicit Types (u v : seq bool) (l : seq (seq bool)).
Let half u : R := 2%:R^-1 ^+ size u.
Lemma kraft_words L l : uniq l -> (forall u, u \in l -> (size u <= L)%N) -> {in l &, forall u v, prefix u v -> u = v} -> \sum_(u <- l) half u <= 1.
Proof.
elim: L l => [|L IH] l ul short free; have [nl|nl] := boolP ([::] \in l).
- have -> : l = [:: [::]].
    apply: perm_small_eq => //; apply: uniq_perm => // u; rewrite inE; apply/idP/eqP => [ul1|->//].
    by apply/esym/free; rewrite ?prefix0s.
  by rewrite big_seq1 /half expr0.
- by rewrite big_seq big1 ?ler01 // => u ul1; move: (short u ul1) nl; rewrite leqn0 size_eq0 => /eqP <-; rewrite ul1.
- have -> : l = [:: [::]].
    apply: perm_small_eq => //; apply: uniq_perm => // u; rewrite inE; apply/idP/eqP => [ul1|->//].
    by apply/esym/free; rewrite ?prefix0s.
  by rewrite big_seq1 /half expr0.
pose sub b := [seq behead u | u <- l & ohead u == Some b].
have cut b u : ohead u == Some b -> u = b :: behead u by case: u => // a u /eqP[->].
have each b : \sum_(u <- l | ohead u == Some b) half u <= 2%:R^-1.
  apply: (@le_trans _ _ (2%:R^-1 * \sum_(v <- sub b) half v)).
    rewrite big_map big_filter mulr_sumr le_eqVlt; apply/orP; left; apply/eqP; apply: eq_bigr => u /cut e.
    by rewrite {1}e /half /= exprS.
  rewrite ler_pimulr ?invr_ge0 ?ler0n //; apply: IH => [|v|v v'].
  - rewrite map_inj_in_uniq ?filter_uniq // => u u'; rewrite !mem_filter => /andP[/cut e _] /andP[/cut e' _] eb.
    by rewrite e e' eb.
  - case/mapP => u; rewrite mem_filter => /andP[/cut e ul1] ->; have := short u ul1; by rewrite {1}e.
  - case/mapP => u; rewrite mem_filter => /andP[/cut e ul1] -> /mapP[u']; rewrite mem_filter => /andP[/cut e' ul2] -> pre.
    by have := free u u' ul1 ul2; rewrite {1}e {1}e' /= eqxx => /(_ pre) ->.
have -> : 1 = 2%:R^-1 + 2%:R^-1 :> R by rewrite -mulr2n -[_ *+ 2]mulr_natl mulfV // pnatr_eq0.
apply: le_trans (ler_add (each true) (each false)).
rewrite [X in X <= _](bigID (fun u => ohead u == Some true)) /= ler_add2l le_eqVlt; apply/orP; left; apply/eqP.
rewrite big_seq_cond [RHS]big_seq_cond; apply: eq_bigl => u; have [ul1|//] := boolP (u \in l).
by case: u ul1 nl => [-> //|[] u] /=.
Qed.
End Kraft.

Section Occam.
Variables (R : realType) (I : finType) (w : I -> R) (m : nat) (Net : eqType) (wrong : Net -> I -> bool).
Hypotheses (w0 : forall i, 0 <= w i) (w1 : \sum_i w i = 1).

Theorem occam_certificate (P : Net -> R) (delta : R) : (forall h, 0 <= P h) -> (forall r, uniq r -> \sum_(h <- r) P h <= 1) -> 0 <= delta ->
  Ex w (fun S : {ffun 'I_m -> I} => `[< exists h, clopper_pearson m (errors (wrong h) S) (delta * P h) < error_rate w (wrong h) >]%:R) <= delta.
Proof.
move=> P0 P1 d0; apply: (union w0 w1 d0 P1) => h.
apply: le_trans (held_out (wrong h) w0 w1 m (mulr_ge0 d0 (P0 h))); apply: Ex_le => // S.
by case: asboolP => [->|_]; rewrite ?lexx ?ler0n.
Qed.

(* P = 2^-bits *)
Definition code_free (code : Net -> seq bool) := forall h h', prefix (code h) (code h') -> h = h'.
Theorem kraft (code : Net -> seq bool) : code_free code -> forall r, uniq r -> \sum_(h <- r) 2%:R^-1 ^+ size (code h) <= 1 :> R.
Proof.
move=> free r ur; rewrite -(big_map code predT (fun u => 2%:R^-1 ^+ size u)).
apply: (@kraft_words R (\max_(h <- r) size (code h))).
- by rewrite map_inj_in_uniq // => h h' _ _ e; apply: free; rewrite e prefix_refl.
- by move=> u /mapP[h hr ->]; rewrite (leq_bigmax_seq h).
- by move=> u v /mapP[h _ ->] /mapP[h' _ ->] /free ->.
Qed.
Theorem occam_code (code : Net -> seq bool) (delta : R) : code_free code -> 0 <= delta ->
  Ex w (fun S : {ffun 'I_m -> I} => `[< exists h, clopper_pearson m (errors (wrong h) S) (delta * 2%:R^-1 ^+ size (code h)) < error_rate w (wrong h) >]%:R) <= delta.
Proof.
move=> free d0; apply: (occam_certificate (P := fun h => 2%:R^-1 ^+ size (code h))) => // [h|].
  by rewrite exprn_ge0 // invr_ge0 ler0n.
exact: kraft.
Qed.
End Occam.

(* only errors, or no probability: the bound is 1 *)
Theorem occam_trivial (R : realType) (m e : nat) (delta : R) : delta <= 1 -> clopper_pearson m m delta = 1 /\ clopper_pearson m e 0 = 1 :> R.
Proof.
have one k (d : R) : d <= cdf m k 1 -> clopper_pearson m k d = 1.
  move=> le; have in1 : 0 <= (1 : R) <= 1 by rewrite ler01 lexx.
  have ub : ubound [set p | 0 <= p <= 1 /\ d <= cdf m k p] 1 by move=> p [/andP[]].
  apply/le_anti/andP; split; first by apply: sup_le_ub => //; exists 1.
  by apply: sup_ub => //; exists 1.
move=> d1; have pos k : 0 <= pmf m k (1 : R) by apply: pmf_ge0; rewrite ler01 lexx.
split; apply: one; last by apply: sumr_ge0.
apply: (le_trans d1); rewrite /cdf big_ord_recr /= ler_paddl ?sumr_ge0 //.
by rewrite /pmf binn subnn expr1n expr0 !mulr1.
Qed.
