(* pick-certificate, distributions of finite support. Picking: among the rows of S outside T take the r(T) that are worst under T and inappropriate,
   append them to T, repeat; stop if there is none, or by a rule on T alone, and then count the inappropriate rows that remain, q: c(S) = T ++ q.
   What is inappropriate, which of two is worse (a total order of the values), r, the rule and the network are functions of T: of the picks, their
   order and where the rounds end, which a learner with a warm start needs. T is the list of rounds here, flatten T the sequence of picks.
   c is preferent, and a point that is inappropriate under T, as every error is, changes c(S). So R(h_T) <= ε(|T| + |q|). *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From mathcomp.classical Require Import boolp classical_sets.
From mathcomp.analysis Require Import reals.
From AdaNet Require Import signs distributions symmetrisation one_class held_out pick_bound preferent.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Picking.
Variable I : finType.
Implicit Types (s t q u v : seq I) (T A : seq (seq I)).
Variables (worse : seq (seq I) -> rel I) (bad : seq (seq I) -> pred I) (r : seq (seq I) -> nat) (stop : seq (seq I) -> bool).
(* the inappropriate rows, the worst first; n rounds *)
Definition queue T s := sort (worse T) [seq z <- s | bad T z].
Fixpoint run n T s : seq (seq I) * seq I :=
  let q := queue T s in
  if n is n'.+1 then
    if stop T || (q == [::]) then (T, q) else run n' (rcons T (take (r T) q)) (drop (r T) q ++ [seq z <- s | ~~ bad T z])
  else (T, q).
(* every round takes a row: as many rounds as there are rows are enough *)
Definition pick s : seq (seq I) * seq I := run (size s) [::] s.
Definition picked s : seq I := flatten (pick s).1 ++ (pick s).2.

Hypotheses (total_worse : forall T, total (worse T)) (trans_worse : forall T, transitive (worse T)) (anti_worse : forall T, antisymmetric (worse T)).
Hypothesis r0 : forall T, (0 < r T)%N.

Let rest T s := drop (r T) (queue T s) ++ [seq z <- s | ~~ bad T z].
Lemma queue_sorted T s : sorted (worse T) (queue T s).
Proof. exact: sort_sorted. Qed.
Lemma count_queue T s x : count_mem x (queue T s) = (if bad T x then count_mem x s else 0)%N.
Proof.
rewrite /queue (seq.permP (permEl (perm_sort _ _))) count_filter; case: (boolP (bad T x)) => b.
  by apply: eq_count => y /=; case: eqP => // ->.
by rewrite (eq_count (a2 := pred0)) ?count_pred0 // => y /=; case: eqP => // ->; rewrite (negbTE b).
Qed.
Lemma count_rest T s x : (count_mem x (take (r T) (queue T s)) + count_mem x (rest T s) = count_mem x s)%N.
Proof.
rewrite count_cat addnA -count_cat cat_take_drop count_queue count_filter.
case: (boolP (bad T x)) => b; last by rewrite add0n; apply: eq_count => y /=; case: eqP => // ->.
by rewrite (eq_count (a1 := predI _ _) (a2 := pred0)) ?count_pred0 ?addn0 // => y /=; case: eqP => // ->; rewrite b.
Qed.
Lemma size_rest T s : queue T s != [::] -> (size (rest T s) < size s)%N.
Proof.
move=> q0; have e : perm_eq s (take (r T) (queue T s) ++ rest T s).
  by apply/allP => x _ /=; rewrite count_cat count_rest.
by rewrite (perm_size e) [X in (_ < X)%N]size_cat -[X in (X < _)%N]add0n ltn_add2r size_take; case: ifP => // _; rewrite lt0n size_eq0.
Qed.

(* what a run adds to T, and what it leaves *)
Lemma runP n T s : (size s <= n)%N -> exists2 A, (run n T s).1 = T ++ A &
  among (flatten A ++ (run n T s).2) s /\ forall z, bad (T ++ A) z -> count_mem z (flatten A ++ (run n T s).2) = count_mem z s.
Proof.
have last T' s' : exists2 A, T' = T' ++ A & among (flatten A ++ queue T' s') s' /\
    forall z, bad (T' ++ A) z -> count_mem z (flatten A ++ queue T' s') = count_mem z s'.
  exists [::]; rewrite ?cats0 //; split=> [x|z b]; rewrite cat0s count_queue; [by case: ifP | by rewrite b].
elim: n T s => [|n IH] T s sn /=; first exact: last.
have [_|/norP[_ q0]] := boolP (stop T || _); first exact: last.
have [|A -> [sub all]] := IH (rcons T (take (r T) (queue T s))) (rest T s); first exact: leq_trans (size_rest q0) sn.
exists (take (r T) (queue T s) :: A); first by rewrite cat_rcons.
split=> [x|z b]; rewrite /= -catA count_cat -(count_rest T s); first by rewrite leq_add2l; exact: sub.
by rewrite all // cat_rcons.
Qed.

(* the worst rows of q are in q', which is part of q: they are the worst of q' *)
Lemma take_worst T n q q' : sorted (worse T) q -> sorted (worse T) q' -> among q' q -> among (take n q) q' -> take n q' = take n q.
Proof.
move=> sq sq' sub top.
have /perm_to_subseq[d pd] : subseq (take n q) q'.
  have [u uq pu] := proj1 (count_subseqP _ _) top; rewrite (_ : take n q = u) //.
  apply: (sorted_eq (@trans_worse T) (@anti_worse T)) => //; first exact: take_sorted.
  exact: (subseq_sorted (@trans_worse T) uq).
have cd x : (count_mem x d <= count_mem x (drop n q))%N.
  have := sub x; rewrite (seq.permP pd) -{2}(cat_take_drop n q) !count_cat leq_add2l //.
have -> : q' = take n q ++ sort (worse T) d.
  apply: (sorted_eq (@trans_worse T) (@anti_worse T)) => //; last first.
    by apply: perm_trans pd _; rewrite perm_cat2l perm_sym perm_sort.
  rewrite (sorted_pairwise (@trans_worse T)) pairwise_cat -!(sorted_pairwise (@trans_worse T)) take_sorted // sort_sorted // !andbT.
  move: sq; rewrite -{1}(cat_take_drop n q) (sorted_pairwise (@trans_worse T)) pairwise_cat => /and3P[al _ _].
  apply/allrelP => x y xq yd; apply: (allrelP al) => //; move: yd; rewrite mem_sort -has_pred1 has_count => /leq_trans/(_ (cd y)).
  by rewrite -has_count has_pred1.
have [nq|qn] := ltnP n (size q); first by rewrite take_size_cat // size_take nq.
have -> : d = [::].
  apply/eqP; rewrite -size_eq0 -leqn0; apply: leq_trans (among_size cd) _; by rewrite drop_oversize.
by rewrite (take_oversize qn) cats0 take_oversize.
Qed.

Lemma run_preferent n n' T s v : (size s <= n)%N -> (size v <= n')%N -> among v s ->
  (forall A, (run n T s).1 = T ++ A -> among (flatten A ++ (run n T s).2) v) -> run n' T v = run n T s.
Proof.
elim: n n' T s v => [|n IH] n' T s v sn vn vs tail.
  have sz : s = [::] by apply/eqP; rewrite -size_eq0 -leqn0.
  have vz : v = [::] by apply/eqP; rewrite -size_eq0 -leqn0 (leq_trans (among_size vs)) // sz.
  by case: n' vn => [|n'] _; rewrite sz vz //= orbT.
have sub : among (queue T v) (queue T s) by move=> x; rewrite !count_queue; case: ifP.
have qv : stop T || (queue T s == [::]) -> run n' T v = (T, queue T v).
  case: n' {vn} => [|n'] //= /orP[->//|/eqP qz]; rewrite (_ : queue T v = [::]) ?orbT //.
  by apply/eqP; rewrite -size_eq0 -leqn0 (leq_trans (among_size sub)) // qz.
move: tail => /=; case: ifP => [e tail|/negbT/norP[ns q0] tail].
  rewrite qv //; congr pair; apply: (sorted_eq (@trans_worse T) (@anti_worse T)); rewrite ?queue_sorted //.
  apply/allP => x _ /=; rewrite eqn_leq sub !count_queue; case: ifP => // b.
  by have := tail [::] (esym (cats0 T)) x; rewrite cat0s count_queue b.
set a := take (r T) (queue T s) in tail *; have sn' : (size (rest T s) <= n)%N by rewrite -ltnS (leq_trans (size_rest q0)).
have [B eB _] := runP (rcons T a) sn'.
have top : among a (queue T v).
  move=> x; have : (count_mem x a <= count_mem x (queue T s))%N by rewrite -(cat_take_drop (r T) (queue T s)) count_cat leq_addr.
  rewrite !count_queue; case: ifP => // _ _; apply: leq_trans (tail (a :: B) _ x); last by rewrite eB cat_rcons.
  by rewrite /= !count_cat -addnA leq_addr.
have aE : take (r T) (queue T v) = a by apply: (take_worst (T := T)) => //; exact: queue_sorted.
have qv0 : queue T v != [::].
  apply: contraNneq q0 => z; move: aE; rewrite z /a; case: (queue T s) (r0 T) => // y l; by case: (r T).
case: n' {qv} vn => [|n'] vn; first by move: vn qv0; rewrite leqn0 size_eq0 => /eqP ->.
rewrite /= (negbTE ns) (negbTE qv0) /= aE; apply: IH => //; first by rewrite -ltnS (leq_trans (size_rest qv0)).
  by move=> x; have := vs x; rewrite -(count_rest T s x) -(count_rest T v x) aE leq_add2l.
by move=> A eA x; have := tail (a :: A); rewrite -cat_rcons => /(_ eA x); rewrite /= -catA count_cat -(count_rest T v x) aE leq_add2l.
Qed.

Lemma pick_among s : among (picked s) s.
Proof. by rewrite /picked /pick; have [A -> []] := runP [::] (leqnn (size s)). Qed.
Lemma pick_between s v : among (picked s) v -> among v s -> pick v = pick s.
Proof. by move=> cv vs; apply: run_preferent => // A e; move: cv; rewrite /picked /pick e. Qed.
Theorem picking_preferent : preferent picked.
Proof. by split=> [|s v cv vs]; [exact: pick_among | rewrite /picked (pick_between cv vs)]. Qed.
(* an error is a change *)
Theorem picking_changes s z : bad (pick s).1 z -> picked (z :: picked s) != picked s.
Proof.
move=> b; apply/eqP => e; have sub : among (picked (z :: picked s)) (picked s) by rewrite e.
have e1 := pick_between sub (@among_cons _ _ z); rewrite (pick_between _ (pick_among s)) // in e1.
have [A] := runP [::] (leqnn (size (z :: picked s))); rewrite -/(pick (z :: picked s)) -e1 cat0s => <- [_ /(_ z b)].
by rewrite -/(picked s) /= eqxx -[X in X = _]add0n => /eqP; rewrite eqn_add2r.
Qed.
End Picking.

(* the largest loss first, ties by the value of the point *)
Section WorstFirst.
Variables (R : realType) (I : eqType) (loss : seq (seq I) -> I -> R) (rank : I -> nat).
Definition worst_first (T : seq (seq I)) : rel I := fun x y => (loss T y < loss T x) || ((loss T x == loss T y) && (rank x <= rank y)%N).
Theorem worst_first_order : injective rank -> forall T, [/\ total (worst_first T), transitive (worst_first T) & antisymmetric (worst_first T)].
Proof.
move=> inj T; rewrite /worst_first; split.
- by move=> x y; case: ltgtP => //= _; rewrite leq_total.
- move=> y x z; have [lt|gt|e] := ltgtP (loss T x) (loss T y) => //=.
    by have [lt'|gt'|e'] := ltgtP (loss T y) (loss T z) => //= _; rewrite ?(lt_trans gt' gt) // -e' gt.
  by rewrite e; have [lt'|gt'|e'] := ltgtP (loss T y) (loss T z) => //=; exact: leq_trans.
- by move=> x y; have [lt|gt|e] := ltgtP (loss T x) (loss T y) => //= /anti_leq /inj.
Qed.
End WorstFirst.

(* wrong T z: the network A(T) errs at z, an error being inappropriate *)
Theorem pick_certificate (R : realType) (I : finType) (w : I -> R) (worse : seq (seq I) -> rel I) (bad : seq (seq I) -> pred I) (r : seq (seq I) -> nat) (stop : seq (seq I) -> bool)
    (wrong : seq (seq I) -> I -> bool) (N : nat) (delta : R) :
  (forall i, 0 <= w i) -> \sum_i w i = 1 ->
  (forall T, total (worse T)) -> (forall T, transitive (worse T)) -> (forall T, antisymmetric (worse T)) -> (forall T, (0 < r T)%N) ->
  (forall T z, wrong T z -> bad T z) -> 0 <= delta ->
  Ex w (fun S : {ffun 'I_N -> I} => let T := (pick worse bad r stop (rows S)).1 in let q := (pick worse bad r stop (rows S)).2 in
    ((pick_bound N (size (flatten T) + size q) delta < error_rate w (wrong T))%R)%:R) <= delta.
Proof.
move=> w0 w1 tot tr anti r0 wb d0.
apply: le_trans (preferent_bound w0 w1 (picking_preferent bad stop tot tr anti r0) N d0); apply: Ex_le => // S /=.
rewrite -size_cat -/(picked worse bad r stop (rows S)); case: ltP => [lt|_]; last exact: ler0n.
case: ltP => // le; suff: error_rate w (wrong (pick worse bad r stop (rows S)).1) <= change_rate w (picked worse bad r stop) (picked worse bad r stop (rows S)).
  by move=> h; have := lt_le_trans lt (le_trans h le); rewrite ltxx.
apply: ler_sum => z _; rewrite ler_wpmul2l // ler_nat; case: (boolP (wrong _ z)) => // /wb b.
by rewrite (picking_changes tot tr anti r0 b).
Qed.

(* a start P of M further draws, on which everything may depend, and a list K of choices fixed before S, each at δ/|K| *)
Theorem pick_certificate_start (R : realType) (I K : finType) (w : I -> R) (M N : nat)
    (worse : {ffun 'I_M -> I} -> K -> seq (seq I) -> rel I) (bad : {ffun 'I_M -> I} -> K -> seq (seq I) -> pred I) (r : {ffun 'I_M -> I} -> K -> seq (seq I) -> nat)
    (stop : {ffun 'I_M -> I} -> K -> seq (seq I) -> bool) (wrong : {ffun 'I_M -> I} -> K -> seq (seq I) -> I -> bool) (delta : R) :
  (forall i, 0 <= w i) -> \sum_i w i = 1 ->
  (forall P k T, total (worse P k T)) -> (forall P k T, transitive (worse P k T)) -> (forall P k T, antisymmetric (worse P k T)) ->
  (forall P k T, (0 < r P k T)%N) -> (forall P k T z, wrong P k T z -> bad P k T z) -> 0 <= delta ->
  Ex w (fun P : {ffun 'I_M -> I} => Ex w (fun S : {ffun 'I_N -> I} => `[< exists k : K,
    let T := (pick (worse P k) (bad P k) (r P k) (stop P k) (rows S)).1 in let q := (pick (worse P k) (bad P k) (r P k) (stop P k) (rows S)).2 in
    pick_bound N (size (flatten T) + size q) (delta / #|K|%:R) < error_rate w (wrong P k T) >]%:R)) <= delta.
Proof.
move=> w0 w1 tot tr anti r0 wb d0; rewrite -[X in _ <= X](Ex_const w1 M); apply: Ex_le => // P.
have prior (l : seq K) : uniq l -> \sum_(k <- l) #|K|%:R^-1 <= 1 :> R.
  move=> ul; rewrite big_const_seq count_predT iter_addr addr0 -[_ *+ _]mulr_natr mulrC.
  have [z|nz] := posnP #|K|; first by rewrite z invr0 mulr0 ler01.
  by rewrite ler_pdivr_mulr ?ltr0n // mul1r ler_nat -(card_uniqP ul) max_card.
apply: (union w0 w1 d0 prior) => k.
have d0' : 0 <= delta / #|K|%:R by rewrite divr_ge0 ?ler0n.
have one := @pick_certificate R I w (worse P k) (bad P k) (r P k) (stop P k) (wrong P k) N _ w0 w1 (tot P k) (tr P k) (anti P k) (r0 P k) (wb P k) d0'.
apply: le_trans one; apply: Ex_le => // S /=.
by case: asboolP => [->|_]; rewrite ?lexx ?ler0n.
Qed.
