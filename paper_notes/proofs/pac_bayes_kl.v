(* pac-bayes-kl, distributions of finite support, finitely many hypotheses, a loss in [0, 1]: with probability 1 - δ, for all Q,
     kl(E_Q R_S, E_Q R) <= [KL(Q||P) + log(ξ(m)/δ)]/m.
   kl(q, p) is the sup of λq - log(1 - p + pe^λ) over λ, and this is what is proved: it covers p = 0 and p = 1, where kl may be infinite. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From mathcomp.classical Require Import boolp classical_sets.
From mathcomp.analysis Require Import reals sequences exp.
From AdaNet Require Import signs exponential distributions symmetrisation held_out entropy.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* a loss in [0, 1] is the mean of a coin: replacing each by its coin does not lower the moment *)
Section Coins.
Variables (R : realType) (I : finType) (w : I -> R) (loss : I -> R) (m : nat).
Hypotheses (w0 : forall i, 0 <= w i) (w1 : \sum_i w i = 1) (m0 : (0 < m)%N) (loss01 : forall a, 0 <= loss a <= 1).
Implicit Types (S : {ffun 'I_m -> I}).
Definition rate : R := \sum_a w a * loss a.
Definition sample_mean S : R := m%:R^-1 * \sum_i loss (S i).
Let mR : 0 < (m%:R : R). Proof. by rewrite ltr0n. Qed.
Let im : 0 <= (m%:R^-1 : R). Proof. by rewrite invr_ge0 ler0n. Qed.
Let coin (a : I) (b : bool) : R := if b then loss a else 1 - loss a.
Let coin0 a (c : bool) : 0 <= coin a c. Proof. by have /andP[h1 h2] := loss01 a; case: c; rewrite /coin // subr_ge0. Qed.
Let w' (q : I * bool) : R := w q.1 * coin q.1 q.2.
Let w'0 q : 0 <= w' q. Proof. by rewrite mulr_ge0. Qed.
Let w'_sum (f : I * bool -> R) : \sum_q w' q * f q = \sum_a w a * (loss a * f (a, true) + (1 - loss a) * f (a, false)).
Proof.
rewrite (eq_bigr (fun q => w' (q.1, q.2) * f (q.1, q.2))) => [|[a c] _ //].
rewrite -(pair_bigA _ (fun a c => w' (a, c) * f (a, c))) /=; apply: eq_bigr => a _.
by rewrite big_bool /w' /coin /= -!mulrA -mulrDr.
Qed.
Let w'1 : \sum_q w' q = 1.
Proof.
rewrite (eq_bigr (fun q => w' q * 1)) => [|q _]; last by rewrite mulr1.
by rewrite w'_sum -[RHS]w1; apply: eq_bigr => a _; rewrite !mulr1 addrC subrK mulr1.
Qed.
Lemma rate_coins : error_rate w' (fun q => q.2) = rate.
Proof. by rewrite /error_rate w'_sum; apply: eq_bigr => a _; rewrite /= mulr1 mulr0 addr0. Qed.
Lemma rate01 : 0 <= rate <= 1.
Proof. by rewrite -rate_coins; exact: error_rate01. Qed.
Lemma sample_mean01 S : 0 <= sample_mean S <= 1.
Proof.
rewrite mulr_ge0 ?sumr_ge0 //=; last by move=> i _; case/andP: (loss01 (S i)).
rewrite ler_pdivr_mull // mulr1; apply: (@le_trans _ _ (\sum_(i < m) 1)); last by rewrite sumr_const card_ord.
by apply: ler_sum => i _; case/andP: (loss01 (S i)).
Qed.
Lemma Ex_coins (F : {ffun 'I_m -> I * bool} -> R) :
  Ex w' F = Ex w (fun S => \sum_(b : {ffun 'I_m -> bool}) (\prod_i coin (S i) (b i)) * F (pairs S b)).
Proof.
rewrite /Ex (reindex (fun q : {ffun 'I_m -> I} * {ffun 'I_m -> bool} => pairs q.1 q.2)) /=; last first.
  exists (fun z : {ffun 'I_m -> I * bool} => ([ffun i => (z i).1], [ffun i => (z i).2])) => [[S b] _|z _] /=.
    by congr pair; apply/ffunP => i; rewrite !ffunE.
  by apply/ffunP => i; rewrite !ffunE -surjective_pairing.
rewrite -(pair_bigA _ (fun S b => (\prod_i w' (pairs S b i)) * F (pairs S b))) /=.
apply: eq_bigr => S _; rewrite mulr_sumr; apply: eq_bigr => b _; rewrite mulrA -big_split /=.
by congr (_ * _); apply: eq_bigr => i _; rewrite ffunE.
Qed.

(* samples of positive probability have loss 0 where the mean is 0, and 1 where it is 1 *)
Lemma seen_zero S : 0 < \prod_i w (S i) -> rate = 0 -> sample_mean S = 0.
Proof.
move=> wS /eqP; rewrite psumr_eq0 => [/allP z|a _]; last by rewrite mulr_ge0 //; case/andP: (loss01 a).
rewrite /sample_mean big1 ?mulr0 // => i _; have := z (S i) (mem_index_enum _); rewrite mulf_eq0 /= => /orP[wz|/eqP//].
by move: wS; rewrite (bigD1 i) //= (eqP wz) mul0r ltxx.
Qed.
Lemma seen_one S : 0 < \prod_i w (S i) -> rate = 1 -> sample_mean S = 1.
Proof.
move=> wS r1; have /eqP : \sum_a w a * (1 - loss a) = 0.
  by rewrite (eq_bigr (fun a => w a - w a * loss a)) => [|a _]; [rewrite sumrB w1 -/rate r1 subrr | rewrite mulrBr mulr1].
rewrite psumr_eq0 => [/allP z|a _]; last by rewrite mulr_ge0 // subr_ge0; case/andP: (loss01 a).
rewrite /sample_mean (eq_bigr (fun=> 1)) ?sumr_const ?card_ord ?mulVf ?gt_eqF // => i _.
have := z (S i) (mem_index_enum _); rewrite mulf_eq0 /= subr_eq0 => /orP[wz|/eqP<-//].
by move: wS; rewrite (bigD1 i) //= (eqP wz) mul0r ltxx.
Qed.

Lemma moment_coins : Ex w' (fun z : {ffun 'I_m -> I * bool} => expR (m%:R * kl ((errors (fun q => q.2) z)%:R / m%:R) rate)) <= xi R m.
Proof.
pose wr (q : I * bool) := q.2; pose f (k : nat) := expR (m%:R * kl (k%:R / m%:R) rate).
have le_m (z : {ffun 'I_m -> I * bool}) : (errors wr z <= m)%N.
  by rewrite /errors -[X in (_ <= X)%N](card_ord m) -sum1_card; apply: leq_sum => i _; exact: leq_b1.
rewrite (eq_Ex w' (g := fun z => \sum_(k < m.+1) f k * (errors wr z == k)%:R)) => [|z]; last first.
  rewrite (bigD1 (Ordinal (le_m z : errors wr z < m.+1)%N)) //= eqxx mulr1 big1 ?addr0 // => k.
  by rewrite -val_eqE /= eq_sym => /negbTE ->; rewrite mulr0.
have -> : Ex w' (fun z : {ffun 'I_m -> I * bool} => \sum_(k < m.+1) f k * (errors wr z == k)%:R) = \sum_(k < m.+1) f k * pmf m k rate.
  rewrite /Ex; under eq_bigr do rewrite mulr_sumr; rewrite exchange_big; apply: eq_bigr => k _ /=.
  by rewrite -rate_coins -(errors_law _ w'1) /Ex mulr_sumr; apply: eq_bigr => S _; rewrite mulrCA.
by apply: ler_sum => k _; apply: moment_term => //; [rewrite -ltnS ltn_ord | exact: rate01].
Qed.
Lemma errors_pairs S (b : {ffun 'I_m -> bool}) : errors (fun q : I * bool => q.2) (pairs S b) = (\sum_i b i)%N.
Proof. by apply: eq_bigr => i _; rewrite ffunE. Qed.

(* Jensen, for one λ after another *)
Lemma one_sample S : 0 < rate < 1 -> expR (m%:R * kl (sample_mean S) rate) <=
  \sum_(b : {ffun 'I_m -> bool}) (\prod_i coin (S i) (b i)) * expR (m%:R * kl ((\sum_i b i)%N%:R / m%:R) rate).
Proof.
move=> p01; have /andP[p0 p1] := p01; have p01' : 0 <= rate <= 1 by rewrite !ltW.
set C := \sum_b _.
have C0 l : expR (m%:R * dual l (sample_mean S) rate) <= C.
  pose Zl := ln (1 - rate + rate * expR l).
  apply: (@le_trans _ _ (\sum_(b : {ffun 'I_m -> bool}) (\prod_i coin (S i) (b i)) * expR (m%:R * dual l ((\sum_i b i)%N%:R / m%:R) rate))); last first.
    apply: ler_sum => b _; rewrite ler_wpmul2l ?prodr_ge0 // ler_expR ler_pmul2l //; apply: dual_le_kl => //.
    - rewrite divr_ge0 ?ler0n //= ler_pdivr_mulr // mul1r ler_nat -[X in (_ <= X)%N](card_ord m) -sum1_card.
      by apply: leq_sum => i _; exact: leq_b1.
    - by move=> e; move: p0; rewrite e ltxx.
    - by move=> e; move: p1; rewrite e ltxx.
  have dE (q : R) : m%:R * dual l (m%:R^-1 * q) rate = l * q - m%:R * Zl.
    by rewrite /dual -/Zl; move: (gt_eqF mR); move: (m%:R : R) Zl => M z hM; field; rewrite hM.
  rewrite dE expRD (eq_bigr (fun b : {ffun 'I_m -> bool} => (\prod_i (coin (S i) (b i) * expR (l * (b i)%:R))) * expR (- (m%:R * Zl)))); last first.
    move=> b _; rewrite [_ / m%:R]mulrC dE expRD mulrA big_split /=; congr (_ * _ * _).
    by rewrite natr_sum mulr_sumr (big_morph expR (@expRD R) (expR0 R)).
  rewrite -mulr_suml ler_pmul2r ?expR_gt0 // mulr_sumr (big_morph expR (@expRD R) (expR0 R)).
  rewrite -(bigA_distr_bigA (fun i c => coin (S i) c * expR (l * c%:R))); apply: ler_prod => i _.
  rewrite ltW ?expR_gt0 //= big_bool /coin /= mulr1 mulr0 expR0 mulr1.
  by have := expR_convex2 l 0 (loss01 (S i)); rewrite mulr0 addr0 expR0 mulr1 mulrC.
have Cp : 0 < C := lt_le_trans (expR_gt0 _) (C0 0).
rewrite -[C]lnK // ler_expR mulrC -ler_pdivl_mulr //; apply: kl_le_dual => // [|l]; first exact: sample_mean01.
by rewrite ler_pdivl_mulr // mulrC -ler_expR lnK.
Qed.
Lemma xi_ge1 : 1 <= xi R m.
Proof.
rewrite /xi big_ord_recl /= mul0r subr0 expr0 expr1n bin0 !mulr1 ler_addl; apply: sumr_ge0 => k _.
rewrite !mulr_ge0 ?ler0n ?exprn_ge0 ?divr_ge0 ?ler0n // subr_ge0 ler_pdivr_mulr // mul1r ler_nat; exact: ltn_ord.
Qed.
Theorem moment : Ex w (fun S => expR (m%:R * kl (sample_mean S) rate)) <= xi R m.
Proof.
have /andP[p0 p1] := rate01; have [pz|pn] := eqVneq rate 0.
  apply: le_trans xi_ge1; rewrite -[X in _ <= X](Ex_const w1 m 1); apply: ler_sum => S _.
  have [->|wn] := eqVneq (\prod_i w (S i)) 0; first by rewrite !mul0r.
  have wS : 0 < \prod_i w (S i) by rewrite lt_def wn prodr_ge0.
  by rewrite (seen_zero wS pz) pz /kl mul0r add0r !subr0 divr1 ln1 !mulr0 expR0.
have [po|pn1] := eqVneq rate 1.
  apply: le_trans xi_ge1; rewrite -[X in _ <= X](Ex_const w1 m 1); apply: ler_sum => S _.
  have [->|wn] := eqVneq (\prod_i w (S i)) 0; first by rewrite !mul0r.
  have wS : 0 < \prod_i w (S i) by rewrite lt_def wn prodr_ge0.
  by rewrite (seen_one wS po) po /kl subrr mul0r addr0 divr1 ln1 !mulr0 expR0.
have p01 : 0 < rate < 1 by rewrite !lt_def pn p0 eq_sym pn1.
apply: le_trans moment_coins; rewrite Ex_coins; apply: Ex_le => // S; apply: le_trans (one_sample S p01) _.
by apply: ler_sum => b _; rewrite errors_pairs.
Qed.
End Coins.

Section PacBayes.
Variables (R : realType) (I Hyp : finType) (w : I -> R) (loss : Hyp -> I -> R) (m : nat) (P : Hyp -> R) (delta : R).
Hypotheses (w0 : forall i, 0 <= w i) (w1 : \sum_i w i = 1) (m0 : (0 < m)%N) (loss01 : forall h a, 0 <= loss h a <= 1).
Hypotheses (P0 : forall h, 0 < P h) (P1 : \sum_h P h = 1) (d0 : 0 < delta).
Implicit Types (S : {ffun 'I_m -> I}) (Q : Hyp -> R).
Definition law Q := (forall h, 0 <= Q h) /\ \sum_h Q h = 1.
Definition KL Q : R := \sum_h Q h * ln (Q h / P h).
(* E_Q R_S and E_Q R *)
Definition mean_sample S Q : R := \sum_h Q h * sample_mean (loss h) S.
Definition mean_rate Q : R := \sum_h Q h * rate w (loss h).
Let mR : 0 < (m%:R : R). Proof. by rewrite ltr0n. Qed.

(* KL is the price of leaving P *)
Lemma change_of_measure (f : Hyp -> R) Q : law Q -> \sum_h Q h * f h <= KL Q + ln (\sum_h P h * expR (f h)).
Proof.
move=> [Q0 Q1]; set F := \sum_h P h * _; have [h0 _|none] := pickP Hyp; last first.
  by move: Q1; rewrite big_pred0 // => /eqP; rewrite eq_sym oner_eq0.
have F0 : 0 < F.
  by rewrite /F (bigD1 h0) //= ltr_paddr ?mulr_gt0 ?expR_gt0 // sumr_ge0 // => h _; rewrite mulr_ge0 ?ltW ?expR_gt0.
have each h : Q h * f h <= Q h * ln (Q h / P h) + Q h * ln F + (P h * expR (f h) / F - Q h).
  have a0 : 0 < P h * expR (f h) / F by rewrite divr_gt0 ?mulr_gt0 ?expR_gt0.
  have [qz|qn] := eqVneq (Q h) 0; first by rewrite qz !mul0r !add0r subr0 ltW.
  have qp : 0 < Q h by rewrite lt_def qn Q0.
  have nz : P h * expR (f h) / F = 0 -> Q h = 0 by move=> e; move: a0; rewrite e ltxx.
  have e1 : ln (P h * expR (f h) / F / Q h) = ln (P h) + f h - ln F - ln (Q h).
    rewrite ln_div // ln_div ?posrE ?mulr_gt0 ?expR_gt0 // lnM ?posrE ?expR_gt0 ?expK //.
  have e2 : ln (Q h / P h) = ln (Q h) - ln (P h) by rewrite ln_div ?posrE.
  have := gibbs (Q0 h) (ltW a0) nz; rewrite e1 e2.
  move: (ln (P h)) (f h) (ln F) (ln (Q h)) (P h * _ / F) => A B C D G le1; by linear le1.
apply: (@le_trans _ _ (\sum_h (Q h * ln (Q h / P h) + Q h * ln F + (P h * expR (f h) / F - Q h)))); first by apply: ler_sum => h _; exact: each.
rewrite !big_split /= -mulr_suml sumrN Q1 mul1r -mulr_suml -/F divff ?gt_eqF // subrr addr0 //.
Qed.
Theorem pac_bayes_dual : Ex w (fun S => `[< exists Q l, law Q /\
  KL Q + ln (xi R m / delta) < m%:R * dual l (mean_sample S Q) (mean_rate Q) >]%:R) <= delta.
Proof.
pose F S := \sum_h P h * expR (m%:R * kl (sample_mean (loss h) S) (rate w (loss h))).
have xi0 : 0 < xi R m := lt_le_trans ltr01 (xi_ge1 R m0).
have EF : Ex w F <= xi R m.
  rewrite /F (_ : Ex w _ = \sum_h P h * Ex w (fun S => expR (m%:R * kl (sample_mean (loss h) S) (rate w (loss h))))); last first.
    rewrite /Ex; under eq_bigr do rewrite mulr_sumr; rewrite exchange_big; apply: eq_bigr => h _; rewrite mulr_sumr.
    by apply: eq_bigr => S _; rewrite mulrCA.
  apply: (@le_trans _ _ (\sum_h P h * xi R m)); last by rewrite -mulr_suml P1 mul1r.
  by apply: ler_sum => h _; rewrite ler_pmul2l //; exact: (moment w0 w1 m0 (loss01 h)).
have F0 S : 0 <= F S by apply: sumr_ge0 => h _; rewrite mulr_ge0 ?ltW ?expR_gt0.
apply: (@le_trans _ _ (Ex w (fun S => delta / xi R m * F S))); last first.
  by rewrite Ex_scale mulrAC ler_pdivr_mulr // ler_pmul2l.
apply: ler_sum => S _; have wS0 : 0 <= \prod_i w (S i) by rewrite prodr_ge0.
have [->|wn] := eqVneq (\prod_i w (S i)) 0; first by rewrite !mul0r.
have wS : 0 < \prod_i w (S i) by rewrite lt_def wn.
rewrite ler_pmul2l //; have c0 : 0 <= delta / xi R m * F S by rewrite mulr_ge0 // divr_ge0 ?(ltW d0) // ltW.
case: asboolP => [[Q [l [lQ lt]]]|//]; have [Q0 Q1] := lQ; rewrite mulrAC ler_pdivl_mulr // mul1r [delta * _]mulrC -ler_pdivr_mulr //.
have [h0 _|none] := pickP Hyp; last by move: Q1; rewrite big_pred0 // => /eqP; rewrite eq_sym oner_eq0.
have Fp : 0 < F S by rewrite /F (bigD1 h0) //= ltr_paddr ?mulr_gt0 ?expR_gt0 // sumr_ge0 // => h _; rewrite mulr_ge0 ?ltW ?expR_gt0.
rewrite -[F S]lnK // -[xi R m / delta]lnK ?posrE ?divr_gt0 // ler_expR -(ler_add2l (KL Q)).
apply: le_trans (ltW lt) _; apply: le_trans (change_of_measure _ lQ).
have conc : \sum_h Q h * ln (1 - rate w (loss h) + rate w (loss h) * expR l) <= ln (1 - mean_rate Q + mean_rate Q * expR l).
  have Zp h : 0 < 1 - rate w (loss h) + rate w (loss h) * expR l by exact: (Z_gt0 l (rate01 w0 w1 (loss01 h))).
  have := @expR_jensen R _ (index_enum Hyp) Q (fun h => ln (1 - rate w (loss h) + rate w (loss h) * expR l)) Q0 Q1.
  rewrite [X in _ <= X](eq_bigr (fun h => Q h * (1 - rate w (loss h) + rate w (loss h) * expR l))) => [|h _]; last by rewrite lnK ?posrE ?Zp.
  have -> : \sum_h Q h * (1 - rate w (loss h) + rate w (loss h) * expR l) = 1 - mean_rate Q + mean_rate Q * expR l.
    rewrite (eq_bigr (fun h => Q h - Q h * rate w (loss h) + Q h * rate w (loss h) * expR l)) => [|h _]; last first.
      by move: (rate _ _) (expR l) (Q h) => a b c; ring.
    by rewrite big_split /= sumrB Q1 -mulr_suml.
  move=> le1; rewrite -ler_expR lnK // posrE; exact: lt_le_trans (expR_gt0 _) le1.
apply: (@le_trans _ _ (\sum_h Q h * (m%:R * dual l (sample_mean (loss h) S) (rate w (loss h))))).
  rewrite (eq_bigr (fun h => m%:R * (l * (Q h * sample_mean (loss h) S)) - m%:R * (Q h * ln (1 - rate w (loss h) + rate w (loss h) * expR l)))); last first.
    by move=> h _; rewrite /dual; move: (ln _) (sample_mean _ _) (Q h) => a b c; ring.
  by rewrite sumrB -!mulr_sumr -/(mean_sample S Q) -mulrBr ler_pmul2l // ler_add2l ler_opp2.
apply: ler_sum => h _; rewrite ler_wpmul2l // ler_pmul2l //; apply: dual_le_kl.
- exact: (sample_mean01 m0 (loss01 h) S).
- exact: rate01.
- exact: (seen_zero w0 (loss01 h) wS).
- exact: (seen_one w0 w1 m0 (loss01 h) wS).
Qed.
Theorem pac_bayes_kl : Ex w (fun S => `[< exists Q, [/\ law Q, 0 < mean_rate Q < 1 &
  (KL Q + ln (xi R m / delta)) / m%:R < kl (mean_sample S Q) (mean_rate Q)] >]%:R) <= delta.
Proof.
apply: le_trans pac_bayes_dual; apply: Ex_le => // S; case: asboolP => [[Q [lQ p01 lt]]|_]; last exact: ler0n.
have [Q0 Q1] := lQ; rewrite asboolT ?lexx //; apply: contrapT => none; move: lt; rewrite ltNge => /negP; apply.
apply: kl_le_dual => // [|l].
  have r h := sample_mean01 m0 (loss01 h) S; rewrite sumr_ge0 => [|h _]; last by rewrite mulr_ge0 //; case/andP: (r h).
  apply: (@le_trans _ _ (\sum_h Q h)); last by rewrite Q1.
  by apply: ler_sum => h _; rewrite ler_pimulr //; case/andP: (r h).
by rewrite ler_pdivl_mulr // mulrC leNgt; apply/negP => lt; apply: none; exists Q, l.
Qed.
Theorem pac_bayes_inverse : Ex w (fun S => `[< exists Q, law Q /\
  kl_inverse (mean_sample S Q) ((KL Q + ln (xi R m / delta)) / m%:R) < mean_rate Q >]%:R) <= delta.
Proof.
apply: le_trans pac_bayes_dual; apply: Ex_le => // S; case: asboolP => [[Q [lQ lt]]|_]; last exact: ler0n.
have [Q0 Q1] := lQ; rewrite asboolT ?lexx //; apply: contrapT => none; move: lt; rewrite ltNge => /negP; apply.
apply: sup_ub; first by exists 1 => p [/andP[]].
have r h := rate01 w0 w1 (loss01 h); split=> [|l].
  rewrite sumr_ge0 => [|h _]; last by rewrite mulr_ge0 //; case/andP: (r h).
  apply: (@le_trans _ _ (\sum_h Q h)); last by rewrite Q1.
  by apply: ler_sum => h _; rewrite ler_pimulr //; case/andP: (r h).
by rewrite ler_pdivl_mulr // mulrC leNgt; apply/negP => lt; apply: none; exists Q, l.
Qed.
(* D: where f errs under Q's loss with probability at least b, f is certified itself *)
Theorem derandomised : Ex w (fun S => `[< exists Q (b : R) (wrong : I -> bool), [/\ law Q, 0 < b,
  forall a, b * (wrong a)%:R <= \sum_h Q h * loss h a &
  kl_inverse (mean_sample S Q) ((KL Q + ln (xi R m / delta)) / m%:R) / b < error_rate w wrong] >]%:R) <= delta.
Proof.
apply: le_trans pac_bayes_inverse; apply: Ex_le => // S; case: asboolP => [[Q [b [wrong [lQ b0 errs lt]]]]|_]; last exact: ler0n.
rewrite asboolT ?lexx //; exists Q; split=> //; move: lt; rewrite ltr_pdivr_mulr // => /lt_le_trans; apply.
have -> : mean_rate Q = \sum_a w a * \sum_h Q h * loss h a.
  rewrite /mean_rate /rate; under eq_bigr do rewrite mulr_sumr; rewrite exchange_big; apply: eq_bigr => a _ /=.
  by rewrite mulr_sumr; apply: eq_bigr => h _; rewrite mulrCA.
by rewrite /error_rate mulr_suml; apply: ler_sum => a _; rewrite -mulrA ler_wpmul2l // mulrC.
Qed.
End PacBayes.
