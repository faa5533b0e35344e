(* held-out, distributions of finite support: the errors of f on m draws are Bin(m, R(f)), and with probability 1 - δ
     R(f) <= max{p : P[Bin(m, p) <= e] >= δ},   e the number of errors (Clopper and Pearson). *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From mathcomp.classical Require Import boolp classical_sets.
From mathcomp.analysis Require Import reals.
From AdaNet Require Import signs distributions symmetrisation.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.

Section Binomial.
Variable R : realType.
(* P[Bin(m, p) = k] and P[Bin(m, p) <= e] *)
Definition pmf (m k : nat) (p : R) : R := 'C(m, k)%:R * p ^+ k * (1 - p) ^+ (m - k).
Definition cdf (m e : nat) (p : R) : R := \sum_(k < e.+1) pmf m k p.
Definition clopper_pearson (m e : nat) (delta : R) : R := sup [set p | 0 <= p <= 1 /\ delta <= cdf m e p].

Lemma pmf_rec m k p : pmf m.+1 k p = (1 - p) * pmf m k p + (if k is k'.+1 then p * pmf m k' p else 0).
Proof.
case: k => [|k]; first by rewrite /pmf !bin0 !expr0 !subn0 exprS addr0 mulrCA.
rewrite /pmf binS natrD subSS; have [km|mk] := ltnP k m.
  rewrite -(subnSK km) !exprS; move: ('C(m, k.+1)%:R : R) ('C(m, k)%:R : R) => c d.
  by move: ((1 - p) ^+ _) (p ^+ k) => u v; ring.
by rewrite bin_small // mulr0n !mul0r mulr0 !add0r exprS; move: ('C(m, k)%:R : R) ((1 - p) ^+ _) (p ^+ k) => c u v; ring.
Qed.
Lemma pmf_ge0 m k p : 0 <= p <= 1 -> 0 <= pmf m k p.
Proof. by move=> /andP[p0 p1]; rewrite !mulr_ge0 ?ler0n ?exprn_ge0 // subr_ge0. Qed.
Lemma cdf_mono m e e' p : 0 <= p <= 1 -> (e <= e')%N -> cdf m e p <= cdf m e' p.
Proof.
move=> p01 ee; rewrite /cdf -(subnK ee) addnC -addSn big_split_ord /= ler_addl.
by apply: sumr_ge0 => k _; exact: pmf_ge0.
Qed.
End Binomial.

Section HeldOut.
Variables (R : realType) (I : finType) (w : I -> R) (wrong : I -> bool).
Hypotheses (w0 : forall i, 0 <= w i) (w1 : \sum_i w i = 1).
Definition error_rate : R := \sum_a w a * (wrong a)%:R.
Definition errors m (S : {ffun 'I_m -> I}) : nat := \sum_i wrong (S i).

Lemma error_rate01 : 0 <= error_rate <= 1.
Proof.
rewrite sumr_ge0 => [|a _]; last by rewrite mulr_ge0 ?ler0n.
by rewrite -w1; apply: ler_sum => a _; rewrite ler_pimulr // lern1 leq_b1.
Qed.
Lemma errors_prepend m a (S : {ffun 'I_m -> I}) : errors (prepend a S) = (wrong a + errors S)%N.
Proof. by rewrite /errors big_ord_recl prepend0; congr addn; apply: eq_bigr => i _; rewrite prependS. Qed.

Theorem errors_law m k : Ex w (fun S : {ffun 'I_m -> I} => (errors S == k)%:R) = pmf m k error_rate.
Proof.
elim: m k => [|m IH] k.
  have [i _|noI] := pickP I; last by move: w1; rewrite big_pred0 // => /eqP; rewrite eq_sym oner_eq0.
  rewrite (Ex0 _ _ [ffun=> i]) /errors big_ord0 /pmf bin0n; case: k => [|k] /=; by rewrite ?expr0 ?mulr1 // !mul0r.
have one : \sum_a w a * (1 - (wrong a)%:R) = 1 - error_rate.
  by rewrite (eq_bigr (fun a => w a - w a * (wrong a)%:R)) => [|a _]; [rewrite sumrB w1 | rewrite mulrBr mulr1].
rewrite ExS pmf_rec -one mulr_suml; case: k => [|k].
  rewrite addr0; apply: eq_bigr => a _; rewrite -mulrA; congr (_ * _); case: (boolP (wrong a)) => wa /=.
    by rewrite subrr mul0r (eq_Ex w (g := fun=> 0)) ?Ex_const // => S; rewrite errors_prepend wa.
  by rewrite subr0 mul1r -IH; apply: eq_Ex => S; rewrite errors_prepend (negbTE wa).
rewrite /error_rate mulr_suml -big_split; apply: eq_bigr => a _ /=; rewrite -!mulrA -mulrDr; congr (_ * _).
case: (boolP (wrong a)) => wa /=.
  by rewrite subrr mul0r add0r mul1r -IH; apply: eq_Ex => S; rewrite errors_prepend wa eqSS.
by rewrite subr0 mul1r mul0r addr0 -IH; apply: eq_Ex => S; rewrite errors_prepend (negbTE wa).
Qed.
Lemma errors_cdf m e : Ex w (fun S : {ffun 'I_m -> I} => (errors S <= e)%N%:R) = cdf m e error_rate.
Proof.
rewrite /cdf -(eq_bigr _ (fun (k : 'I_e.+1) _ => errors_law m k)) /Ex exchange_big; apply: eq_bigr => S _ /=.
rewrite -mulr_sumr; congr (_ * _); have [le|gt] := leqP (errors S) e.
  rewrite (bigD1 (Ordinal (le : errors S < e.+1)%N)) //= eqxx big1 ?addr0 // => k.
  by rewrite -val_eqE /= eq_sym => /negbTE ->.
by rewrite big1 // => k _; rewrite gtn_eqF // (leq_trans _ gt).
Qed.

(* the least value of the tail that a sample reaches is at most δ with probability at most δ *)
Lemma tail_small m (delta : R) : 0 <= delta ->
  Ex w (fun S : {ffun 'I_m -> I} => ((cdf m (errors S) error_rate < delta)%R)%:R) <= delta.
Proof.
move=> d0; have le_m (S : {ffun 'I_m -> I}) : (errors S <= m)%N.
  by rewrite /errors -[X in (_ <= X)%N](card_ord m) -sum1_card; apply: leq_sum => i _; exact: leq_b1.
have [[e em]|none] := pselect (exists e, (e <= m)%N && (cdf m e error_rate < delta)); last first.
  rewrite (eq_Ex w (g := fun=> 0)) ?Ex_const // => S; case: (ltP (cdf m (errors S) error_rate)) => // lt.
  by case: none; exists (errors S); rewrite le_m lt.
have ex : exists e, (e <= m)%N && (cdf m e error_rate < delta) by exists e.
have bd i : (i <= m)%N && (cdf m i error_rate < delta) -> (i <= m)%N by case/andP.
case: (ex_maxnP ex bd) => e0 /andP[_ lt0] max0.
apply: le_trans (ltW lt0); rewrite -errors_cdf; apply: Ex_le => // S.
by case: (ltP (cdf m (errors S) error_rate)) => lt /=; rewrite ?ler0n // max0 ?le_m.
Qed.
Theorem held_out m (delta : R) : 0 <= delta ->
  Ex w (fun S : {ffun 'I_m -> I} => ((clopper_pearson m (errors S) delta < error_rate)%R)%:R) <= delta.
Proof.
move=> d0; apply: le_trans (tail_small m d0); apply: Ex_le => // S.
case: (ltP (clopper_pearson _ _ _)) => [lt|_]; last exact: ler0n.
case: (ltP (cdf m (errors S) error_rate)) => // le; move: lt; rewrite ltNge; case/negP.
apply: sup_ub; last by split; [exact: error_rate01 | exact: le].
by exists 1 => p [/andP[]].
Qed.
End HeldOut.
