(* pick-certificate, what does not depend on how it is picked: c maps a sample to some of its rows and is preferent, c(S) <= V <= S => c(V) = c(S)
   (rows are counted with their copies). φ(T) = P_z(c(T+z) != T). With probability 1 - δ over N draws, T = c(S), k = |T|:   φ(T) <= ε(k), where
   (δ/N) Σ_{k<=m<N} [C(m,k)/C(N,k)] (1-ε)^-(N-m) = 1 and ε(N) = 1. *)
From mathcomp Require Import all_ssreflect all_algebra all_fingroup.
From mathcomp.algebra_tactics Require Import ring.
From mathcomp.classical Require Import boolp classical_sets.
From mathcomp.analysis Require Import reals.
From AdaNet Require Import signs distributions symmetrisation held_out pick_bound.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.

(* rows with their copies, in any order *)
Section Rows.
Variable I : finType.
Implicit Types (s t : seq I) (a : I).
Definition among t s := forall x, (count_mem x t <= count_mem x s)%N.
Definition rows m (S : {ffun 'I_m -> I}) : seq I := [seq S i | i <- enum 'I_m].
Definition shuffle m (p : {perm 'I_m}) (S : {ffun 'I_m -> I}) : {ffun 'I_m -> I} := [ffun i => S (p i)].

Lemma among_trans t s u : among t s -> among s u -> among t u.
Proof. by move=> ts su x; exact: leq_trans (ts x) (su x). Qed.
Lemma among_perm t s : perm_eq t s -> among t s.
Proof. by move=> /seq.permP e x; rewrite e. Qed.
Lemma among_cons t a : among t (a :: t).
Proof. by move=> x; rewrite /= leq_addl. Qed.
Lemma among_cons2 t s a : among t s -> among (a :: t) (a :: s).
Proof. by move=> ts x; rewrite /= leq_add2l. Qed.
Lemma among_size t s : among t s -> (size t <= size s)%N.
Proof. by case/count_subseqP => u us /perm_size ->; exact: size_subseq. Qed.
Lemma size_rows m (S : {ffun 'I_m -> I}) : size (rows S) = m.
Proof. by rewrite size_map size_enum_ord. Qed.
Lemma rows_prepend m a (S : {ffun 'I_m -> I}) : rows (prepend a S) = a :: rows S.
Proof. by rewrite /rows enum_ordSl /= prepend0 -map_comp; congr cons; apply: eq_map => i /=; rewrite prependS. Qed.
Lemma perm_rows m p (S : {ffun 'I_m -> I}) : perm_eq (rows (shuffle p S)) (rows S).
Proof.
rewrite /rows (eq_map (f2 := S \o p)) => [|i]; last by rewrite ffunE.
rewrite map_comp; apply: perm_map; apply: uniq_perm; rewrite ?(map_inj_uniq (@perm_inj _ p)) ?enum_uniq //.
by move=> i; rewrite !mem_enum; apply/mapP; exists (p^-1%g i); rewrite ?mem_enum ?permKV.
Qed.
Lemma sum_rows (R : realType) (g : I -> R) s : \sum_(a <- s) g a = \sum_a (count_mem a s)%:R * g a.
Proof.
elim: s => [|b s IH]; first by rewrite big_nil big1 // => a _; rewrite mul0r.
rewrite big_cons IH [RHS](eq_bigr (fun a => (b == a)%:R * g a + (count_mem a s)%:R * g a)) => [|a _]; last by rewrite natrD mulrDl.
rewrite big_split /=; congr (_ + _); rewrite (bigD1 b) //= eqxx mul1r big1 ?addr0 // => a /negbTE.
by rewrite eq_sym => ->; rewrite mul0r.
Qed.
(* each draw is as good as the first *)
Lemma Ex_any (R : realType) (w : I -> R) m (F : I -> {ffun 'I_m.+1 -> I} -> R) i : (forall a p S, F a (shuffle p S) = F a S) ->
  Ex w (fun S => F (S i) S) = Ex w (fun S => F (S ord0) S).
Proof.
move=> sym; have inv : involutive (@shuffle m.+1 (tperm ord0 i)) by move=> S; apply/ffunP => j; rewrite !ffunE tpermK.
rewrite /Ex (reindex_inj (can_inj inv)); apply: eq_bigr => S _; rewrite sym ffunE tpermR; congr (_ * _).
rewrite [RHS](reindex_inj (@perm_inj _ (tperm ord0 i))); apply: eq_bigr => j _; by rewrite ffunE.
Qed.
End Rows.

Section Preferent.
Variables (R : realType) (I : finType) (w : I -> R) (c : seq I -> seq I).
Hypotheses (w0 : forall i, 0 <= w i) (w1 : \sum_i w i = 1).
Definition preferent := (forall s, among (c s) s) /\ (forall s v, among (c s) v -> among v s -> c v = c s).
Hypothesis pref : preferent.
Implicit Types (t : seq I).
Definition change_rate t : R := error_rate w (fun z => c (z :: t) != t).
Let P m t : R := Ex w (fun S : {ffun 'I_m -> I} => (c (rows S) == t)%:R).

Let change01 t : 0 <= change_rate t <= 1. Proof. exact: error_rate01. Qed.
Let P_ge0 m t : 0 <= P m t.
Proof. by apply: sumr_ge0 => S _; rewrite mulr_ge0 ?ler0n ?prodr_ge0. Qed.
Let c_shuffle m p (S : {ffun 'I_m -> I}) : c (rows (shuffle p S)) = c (rows S).
Proof.
have [sub pre] := pref; apply: pre; last exact/among_perm/perm_rows.
by apply: among_trans (sub _) _; apply: among_perm; rewrite perm_sym; exact: perm_rows.
Qed.

(* one row that is not picked: without it T is picked as well, and added to T alone it changes nothing *)
Lemma pick_step m t : (m.+1 - size t)%:R * P m.+1 t <= m.+1%:R * ((1 - change_rate t) * P m t).
Proof.
have [sub pre] := pref.
pose F a (S : {ffun 'I_m.+1 -> I}) : R := (c (rows S) == t)%:R * (1 - (count_mem a t)%:R / (count_mem a (rows S))%:R).
have sumF S : (m.+1 - size t)%:R * (c (rows S) == t)%:R = \sum_i F (S i) S.
  rewrite -mulr_sumr mulrC; case: eqP => [e|_]; last by rewrite !mul0r.
  have ts : among t (rows S) by rewrite -e; exact: sub.
  rewrite !mul1r natrB; last by rewrite -[X in (_ <= X)%N](size_rows S); exact: among_size.
  rewrite sumrB sumr_const card_ord; congr (_ - _).
  have -> : \sum_i (count_mem (S i) t)%:R / (count_mem (S i) (rows S))%:R = \sum_(a <- rows S) (count_mem a t)%:R / (count_mem a (rows S))%:R :> R.
    by rewrite big_map big_enum.
  rewrite sum_rows -sum1_size natr_sum sum_rows; apply: eq_bigr => a _; rewrite mulr1.
  have [z|nz] := posnP (count_mem a (rows S)); last by rewrite mulrCA divff ?mulr1 // pnatr_eq0 -lt0n.
  by have := ts a; rewrite z leqn0 => /eqP ->; rewrite !mul0r.
rewrite -Ex_scale (eq_Ex w (g := fun S => \sum_i F (S i) S)) //.
have -> : Ex w (fun S => \sum_i F (S i) S) = \sum_(i < m.+1) Ex w (fun S => F (S i) S).
  by rewrite /Ex exchange_big; apply: eq_bigr => S _; rewrite mulr_sumr.
rewrite (eq_bigr (fun=> Ex w (fun S => F (S ord0) S))) => [|i _]; last first.
  apply: Ex_any => a p S; rewrite /F c_shuffle; congr (_ * (1 - _ / _%:R)); exact/seq.permP/perm_rows.
rewrite sumr_const card_ord -[_ *+ _]mulr_natl ler_wpmul2l ?ler0n // ExS.
have -> : 1 - change_rate t = \sum_z w z * (c (z :: t) == t)%:R.
  rewrite /change_rate /error_rate -[X in X - _]w1 -sumrB; apply: eq_bigr => z _; case: eqP => _ /=; by rewrite ?mulr0 ?mulr1 ?subr0 ?subrr.
rewrite mulr_suml; apply: ler_sum => z _; rewrite -mulrA ler_wpmul2l // -Ex_scale; apply: Ex_le => // S.
rewrite prepend0 /F rows_prepend; case: (c _ =P t) => [e|_]; last by rewrite mul0r mulr_ge0 ?ler0n.
have ts : among t (z :: rows S) by rewrite -e; exact: sub.
rewrite mul1r; have := ts z; rewrite leq_eqVlt => /predU1P[->|lt].
  by rewrite divff ?subrr ?mulr_ge0 ?ler0n // pnatr_eq0 /= eqxx.
have ts' : among t (rows S).
  move=> x; have := ts x; rewrite /=; have [e'|_] := eqVneq z x; last by rewrite add0n.
  by move: lt; rewrite /= eqxx add1n ltnS e'.
have -> : c (z :: t) = t by rewrite -[RHS]e; apply: pre; [rewrite e; exact: among_cons | exact: among_cons2].
have -> : c (rows S) = t by rewrite -[RHS]e; apply: pre; [rewrite e | exact: among_cons].
by rewrite eqxx mul1r ler_subl_addl ler_addr divr_ge0 ?ler0n.
Qed.
Theorem pick_steps m n t : (size t <= m)%N -> P (m + n) t * 'C(m, size t)%:R <= P m t * 'C(m + n, size t)%:R * (1 - change_rate t) ^+ n.
Proof.
move=> tm; elim: n => [|n IH]; first by rewrite addn0 expr0 mulr1.
have pos : 0 < (m + n.+1 - size t)%:R :> R by rewrite ltr0n subn_gt0 addnS ltnS (leq_trans tm) // leq_addr.
rewrite -(ler_pmul2l pos) mulrA addnS; apply: le_trans (ler_wpmul2r (ler0n _ _) (pick_step _ _)) _.
have f0 : 0 <= (m + n).+1%:R * (1 - change_rate t) by rewrite mulr_ge0 ?ler0n // subr_ge0; case/andP: (change01 t).
have := ler_wpmul2l f0 IH; rewrite !mulrA => h; apply: le_trans h _; rewrite le_eqVlt; apply/orP; left; apply/eqP.
have bin : (m + n).+1%:R * 'C(m + n, size t)%:R = ((m + n).+1 - size t)%:R * 'C((m + n).+1, size t)%:R :> R.
  by rewrite -!natrM -mul_bin_down.
rewrite exprS; move: bin; move: ((m + n).+1%:R) ('C(m + n, size t)%:R) (((m + n).+1 - size t)%:R) ('C((m + n).+1, size t)%:R) => a b a' b' e.
rewrite (_ : a * (1 - change_rate t) * P m t * b * _ = a * b * ((1 - change_rate t) * P m t * (1 - change_rate t) ^+ n)); last by move: ((1 - change_rate t) ^+ n) => u; ring.
by rewrite e; move: ((1 - change_rate t) ^+ n) => u; ring.
Qed.

Let below N delta t : 0 <= delta -> pick_bound N (size t) delta < change_rate t -> P N t <= delta / N%:R * \sum_(m < N) P m t.
Proof.
move=> d0; rewrite /pick_bound; have /andP[p0 p1] := change01 t; have rhs0 : 0 <= delta / N%:R * \sum_(m < N) P m t.
  by rewrite mulr_ge0 ?divr_ge0 ?ler0n ?sumr_ge0.
case: ltnP => [kN lt|_]; last by rewrite ltNge p1.
have [pe|pn] := eqVneq (change_rate t) 1.
  have := pick_steps (N - size t) (leqnn (size t)); rewrite subnKC 1?ltnW // binn mulr1 pe subrr expr0n subn_eq0 leqNgt kN mulr0 => h.
  exact: le_trans h rhs0.
have q0 : 0 < 1 - change_rate t by rewrite subr_gt0 lt_def eq_sym pn.
have big : 1 <= pick_sum N (size t) delta (change_rate t).
  rewrite leNgt; apply/negP => small; move: lt; rewrite ltNge => /negP; apply; apply: sup_ub.
    by exists 1 => p [/andP[_ /ltW]].
  by split; [rewrite p0 -subr_gt0 | exact: ltW].
apply: (@le_trans _ _ (pick_sum N (size t) delta (change_rate t) * P N t)); first by rewrite ler_pemull.
rewrite /pick_sum -mulrA ler_wpmul2l ?divr_ge0 ?ler0n // mulr_suml.
apply: (@le_trans _ _ (\sum_(size t <= m < N) P m t)); last first.
  by rewrite -(big_mkord predT (fun m => P m t)) (big_cat_nat _ _ _ (leq0n _) (ltnW kN)) /= ler_addr sumr_ge0.
rewrite big_nat [X in _ <= X]big_nat; apply: ler_sum => m /andP[km mN].
have := pick_steps (N - m) km; rewrite subnKC 1?ltnW // => h.
have CN : 0 < 'C(N, size t)%:R :> R by rewrite ltr0n bin_gt0 ltnW.
have qn : 0 < (1 - change_rate t) ^+ (N - m) by rewrite exprn_gt0.
rewrite (_ : _ * P N t = P N t * 'C(m, size t)%:R / ('C(N, size t)%:R * (1 - change_rate t) ^+ (N - m))).
  by rewrite ler_pdivr_mulr ?mulr_gt0 // mulrA.
by rewrite invfM; move: ('C(N, size t)%:R^-1) (_ ^- _) ('C(m, size t)%:R) => x y z; ring.
Qed.

Theorem preferent_bound N delta : 0 <= delta ->
  Ex w (fun S : {ffun 'I_N -> I} => ((pick_bound N (size (c (rows S))) delta < change_rate (c (rows S)))%R)%:R) <= delta.
Proof.
move=> d0; have [->|N0] := posnP N.
  rewrite (eq_Ex w (g := fun=> 0)) ?Ex_const // => S; rewrite /pick_bound ltn0 ltNge.
  by have /andP[_ ->] := change01 (c (rows S)).
pose D := undup [seq c (rows S) | S <- enum {: {ffun 'I_N -> I}}]; pose bad t := pick_bound N (size t) delta < change_rate t.
have one m (S : {ffun 'I_m -> I}) : \sum_(t <- D) (c (rows S) == t)%:R <= 1 :> R.
  have [cD|cD] := boolP (c (rows S) \in D); last first.
    by rewrite big_seq big1 ?ler01 // => t tD; case: eqP cD => // ->; rewrite tD.
  rewrite (bigD1_seq (c (rows S))) ?undup_uniq //= eqxx big1 ?addr0 // => t.
  by rewrite eq_sym => /negbTE ->.
have swap m (r : seq I -> R) : \sum_(t <- D) r t * P m t = Ex w (fun S : {ffun 'I_m -> I} => \sum_(t <- D) r t * (c (rows S) == t)%:R).
  rewrite /P /Ex; under eq_bigr do rewrite mulr_sumr; rewrite exchange_big; apply: eq_bigr => S _ /=.
  by rewrite mulr_sumr; apply: eq_bigr => t _; rewrite mulrCA.
apply: (@le_trans _ _ (\sum_(t <- D) (bad t)%:R * P N t)).
  rewrite swap; apply: Ex_le => // S; rewrite (bigD1_seq (c (rows S))) ?undup_uniq //=; last by rewrite mem_undup map_f // mem_enum.
  by rewrite eqxx mulr1 ler_addl sumr_ge0 // => t _; rewrite mulr_ge0 ?ler0n.
apply: (@le_trans _ _ (\sum_(t <- D) delta / N%:R * \sum_(m < N) P m t)).
  apply: ler_sum => t _; case: (boolP (bad t)) => [b|_]; first by rewrite mul1r; exact: below.
  by rewrite mul0r mulr_ge0 ?divr_ge0 ?ler0n ?sumr_ge0.
have NR : 0 < N%:R :> R by rewrite ltr0n.
rewrite -mulr_sumr exchange_big /= mulrAC ler_pdivr_mulr // ler_wpmul2l //.
rewrite -[X in _ <= X%:R](card_ord N) -sumr_const; apply: ler_sum => m _.
rewrite (eq_bigr (fun t => 1 * P m t)) => [|t _]; last by rewrite mul1r.
rewrite swap -[X in _ <= X](Ex_const w1 m); apply: Ex_le => // S.
by rewrite (eq_bigr (fun t => (c (rows S) == t)%:R)) // => t _; rewrite mul1r.
Qed.
End Preferent.
