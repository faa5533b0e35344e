(* pac-bayes-kl, distributions of finite support, finitely many hypotheses, losses 0 and 1: with probability 1 - δ, for all Q,
     kl(E_Q R_S, E_Q R) <= [KL(Q||P) + log(ξ(m)/δ)]/m.
   kl(q, p) is the sup of λq - log(1 - p + pe^λ) over λ, and this is what is proved: it covers p = 0 and p = 1, where kl may be infinite. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From mathcomp.classical Require Import boolp classical_sets.
From mathcomp.analysis Require Import reals sequences exp.
From AdaNet Require Import signs exponential distributions symmetrisation held_out.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Entropy.
Variable R : realType.
Implicit Types (q p a l c : R).
(* 0 log 0 = 0 here, as ln 0 = 0 in this library *)
Definition kl q p : R := q * ln (q / p) + (1 - q) * ln ((1 - q) / (1 - p)).
Definition dual l q p : R := l * q - ln (1 - p + p * expR l).
Definition xi (m : nat) : R := \sum_(k < m.+1) 'C(m, k)%:R * (k%:R / m%:R) ^+ k * (1 - k%:R / m%:R) ^+ (m - k).

Lemma gibbs q a : 0 <= q -> 0 <= a -> (a = 0 -> q = 0) -> q * ln (a / q) <= a - q.
Proof.
move=> q0 a0 aq; have [->|qn] := eqVneq q 0; first by rewrite mul0r subr0.
have qp : 0 < q by rewrite lt_def qn.
have ap : 0 < a by rewrite lt_def a0 andbT; apply: contra_neq qn.
have := expR_ge1D (ln (a / q)); rewrite lnK ?posrE ?divr_gt0 // => h.
by have := ler_wpmul2l q0 h; rewrite mulrDr mulr1 [q * (a / q)]mulrCA mulfV // mulr1 -ler_subr_addl.
Qed.

Let Z p l := 1 - p + p * expR l.
Lemma Z_gt0 p l : 0 <= p <= 1 -> 0 < Z p l.
Proof. by move=> p01; exact: (mix_gt0 p01 l). Qed.
Lemma dual_le_kl q p l : 0 <= q <= 1 -> 0 <= p <= 1 -> (p = 0 -> q = 0) -> (p = 1 -> q = 1) -> dual l q p <= kl q p.
Proof.
move=> /andP[q0 q1] p01 h0 h1; have /andP[p0 p1] := p01; have Z0 := Z_gt0 l p01; have e0 := expR_gt0 l.
have part (x u v : R) : 0 <= x -> 0 <= u -> 0 < v -> (u = 0 -> x = 0) -> x * ln v - x * ln (Z p l) <= x * ln (x / u) + (u * v / Z p l - x).
  move=> x0 u0 v0 ux; have [->|xn] := eqVneq x 0; first by rewrite !mul0r subrr subr0 add0r divr_ge0 ?mulr_ge0 // ltW.
  have xp : 0 < x by rewrite lt_def xn.
  have up : 0 < u by rewrite lt_def u0 andbT; apply: contra_neq xn.
  have := gibbs x0 (_ : 0 <= u * v / Z p l); rewrite divr_ge0 ?mulr_ge0 ?(ltW v0) ?(ltW Z0) // => /(_ isT) g.
  have : u * v / Z p l = 0 -> x = 0 by move/eqP; rewrite !mulf_eq0 invr_eq0 !gt_eqF.
  move/g; rewrite !ln_div ?lnM ?posrE ?divr_gt0 ?mulr_gt0 //; move: (ln u) (ln v) (ln (Z p l)) (ln x) => a b c d le1.
  by linear le1.
have g1 := part q p (expR l) q0 p0 e0 h0.
have h1' : 1 - p = 0 -> 1 - q = 0.
  by move/eqP; rewrite subr_eq0 eq_sym => /eqP/h1->; rewrite subrr.
have q1' : 0 <= 1 - q by rewrite subr_ge0.
have p1' : 0 <= 1 - p by rewrite subr_ge0.
have g2 := part (1 - q) (1 - p) 1 q1' p1' ltr01 h1'.
have z1 : p * expR l / Z p l + (1 - p) * 1 / Z p l = 1 by rewrite mulr1 -mulrDl addrC divff // gt_eqF.
rewrite expK ln1 mulr0 in g1 g2; rewrite /dual /kl -/(Z p l).
move: (ln (Z p l)) (ln (q / p)) (ln ((1 - q) / (1 - p))) (p * expR l / Z p l) ((1 - p) * 1 / Z p l) z1 g1 g2 => A B C D F z1 g1 g2.
have zz : F = 1 - D by rewrite -z1 addrAC subrr add0r.
by rewrite zz in g2; linear (ler_add g1 g2).
Qed.
(* and kl is the sup *)
Lemma kl_le_dual q p c : 0 <= q <= 1 -> 0 < p < 1 -> (forall l, dual l q p <= c) -> kl q p <= c.
Proof.
move=> /andP[q0 q1] /andP[p0 p1] h; have p1' : 0 < 1 - p by rewrite subr_gt0.
have lim (u v : R) : 0 < u -> 0 < v -> (forall e : R, 0 < e -> - ln (u + v * e) <= c) -> - ln u <= c.
  move=> u0 v0 hh; rewrite -lnV // -ler_expR lnK ?posrE ?invr_gt0 // -[expR c]invrK ler_pinv ?inE ?unitfE ?gt_eqF ?invr_gt0 ?expR_gt0 //.
  apply/ler_addgt0Pr => e e0; have := hh (e / v); rewrite divr_gt0 // => /(_ isT); rewrite mulrCA divff ?gt_eqF // mulr1.
  have ue : 0 < u + e by rewrite addr_gt0.
  rewrite -lnV // -ler_expR lnK ?posrE ?invr_gt0 // => le1.
  by rewrite -[u + e]invrK ler_pinv ?inE ?unitfE ?gt_eqF ?invr_gt0 ?expR_gt0.
have [qz|qn] := eqVneq q 0.
  rewrite /kl qz mul0r add0r subr0 mul1r div1r lnV //; apply: (lim _ p) => // e e0.
  by have := h (ln e); rewrite /dual qz mulr0 add0r lnK.
have [qo|qn1] := eqVneq q 1.
  rewrite /kl qo subrr mul0r addr0 mul1r div1r lnV //; apply: (lim _ (1 - p)) => // e e0.
  have := h (- ln e); rewrite /dual qo mulr1 expRN lnK // => le1; apply: le_trans le1.
  have s0 : 0 < 1 - p + p / e by rewrite addr_gt0 ?divr_gt0.
  rewrite (_ : p + (1 - p) * e = e * (1 - p + p / e)); last by field; rewrite gt_eqF.
  by rewrite lnM ?posrE // opprD.
have qp : 0 < q by rewrite lt_def qn.
have q1' : 0 < 1 - q by rewrite subr_gt0 lt_def eq_sym qn1.
pose l := ln (q * (1 - p) / ((1 - q) * p)); have := h l; rewrite /dual /l lnK ?posrE ?divr_gt0 ?mulr_gt0 //.
have -> : 1 - p + p * (q * (1 - p) / ((1 - q) * p)) = (1 - p) / (1 - q).
  by field; rewrite !gt_eqF.
rewrite !ln_div ?lnM ?posrE ?mulr_gt0 //; apply: le_trans; rewrite /kl !ln_div ?posrE //.
by move: (ln q) (ln p) (ln (1 - q)) (ln (1 - p)) => A B C D; rewrite le_eqVlt; apply/orP; left; apply/eqP; ring.
Qed.

(* max{p : kl(q, p) <= c} *)
Definition kl_inverse q c : R := sup [set p | 0 <= p <= 1 /\ forall l, dual l q p <= c]%classic.

(* e^(m kl(k/m, p)) P[Bin(m, p) = k] does not depend on p *)
Lemma expR_power (k : nat) (y : R) : (k == 0)%N || (0 < y) -> expR (k%:R * ln y) = y ^+ k.
Proof. by case/orP => [/eqP->|y0]; [rewrite mul0r expR0 expr0 | rewrite expRMm lnK]. Qed.
Lemma moment_term m k p : (0 < m)%N -> (k <= m)%N -> 0 <= p <= 1 ->
  expR (m%:R * kl (k%:R / m%:R) p) * pmf m k p <= 'C(m, k)%:R * (k%:R / m%:R) ^+ k * (1 - k%:R / m%:R) ^+ (m - k).
Proof.
move=> m0 km /andP[p0 p1]; have mR : 0 < (m%:R : R) by rewrite ltr0n.
set y := k%:R / m%:R; have y01 : 0 <= y <= 1 by rewrite divr_ge0 ?ler0n //= ler_pdivr_mulr // mul1r ler_nat.
have /andP[y0 y1] := y01; have y1' : 0 <= 1 - y by rewrite subr_ge0.
have rhs0 : 0 <= 'C(m, k)%:R * y ^+ k * (1 - y) ^+ (m - k) by rewrite !mulr_ge0 ?ler0n ?exprn_ge0.
have mkE : m%:R * kl y p = k%:R * ln (y / p) + (m - k)%:R * ln ((1 - y) / (1 - p)).
  have my : m%:R * y = k%:R by rewrite mulrC divfK // gt_eqF.
  rewrite /kl natrB // -{1}my; have -> : (m%:R - k%:R : R) = m%:R * (1 - y) by rewrite mulrBr mulr1 my.
  by move: (ln _) (ln _) => A B; ring.
have [pz|pn] := eqVneq p 0.
  have [kz|kn] := posnP k; last by rewrite /pmf pz expr0n (gtn_eqF kn) mulr0 mul0r mulr0.
  have yz : y = 0 by rewrite /y kz mul0r.
  by rewrite pz yz {1}/kl mul0r add0r !subr0 divr1 ln1 !mulr0 expR0 mul1r /pmf kz subr0.
have [po|pn1] := eqVneq p 1.
  have [mk|mk] := eqVneq m k; last by rewrite /pmf po subrr expr0n subn_eq0 leqNgt ltn_neqAle eq_sym mk km /= mulr0 mulr0.
  have yo : y = 1 by rewrite /y mk divff // -mk gt_eqF.
  by rewrite po yo {1}/kl subrr mul0r addr0 divr1 ln1 !mulr0 expR0 mul1r /pmf mk subnn subrr !expr0.
rewrite mkE expRD.
have pp : 0 < p by rewrite lt_def pn.
have pp' : 0 < 1 - p by rewrite subr_gt0 lt_def eq_sym pn1.
rewrite !expR_power.
- rewrite le_eqVlt; apply/orP; left; apply/eqP; rewrite /pmf !expr_div_n.
  move: (expf_neq0 k (lt0r_neq0 pp)) (expf_neq0 (m - k) (lt0r_neq0 pp')).
  move: (p ^+ k) ((1 - p) ^+ (m - k)) (y ^+ k) ((1 - y) ^+ (m - k)) ('C(m, k)%:R : R) => A B C D F hA hB.
  by field; rewrite hA hB expf_neq0 ?gt_eqF.
- case: (posnP (m - k)%N) => [_|mk] //; apply/orP; right; rewrite divr_gt0 // subr_gt0 ltr_pdivr_mulr // mul1r ltr_nat.
  by rewrite -subn_gt0.
- by case: (posnP k) => [_|k0] //; apply/orP; right; rewrite !divr_gt0 ?ltr0n.
Qed.
End Entropy.

Section PacBayes.
Variables (R : realType) (I Hyp : finType) (w : I -> R) (wrong : Hyp -> I -> bool) (m : nat) (P : Hyp -> R) (delta : R).
Hypotheses (w0 : forall i, 0 <= w i) (w1 : \sum_i w i = 1) (m0 : (0 < m)%N).
Hypotheses (P0 : forall h, 0 < P h) (P1 : \sum_h P h = 1) (d0 : 0 < delta).
Implicit Types (S : {ffun 'I_m -> I}) (Q : Hyp -> R).
Definition law Q := (forall h, 0 <= Q h) /\ \sum_h Q h = 1.
Definition KL Q : R := \sum_h Q h * ln (Q h / P h).
(* R_S(h), E_Q R_S and E_Q R *)
Definition sample_rate S h : R := (errors (wrong h) S)%:R / m%:R.
Definition mean_sample_rate S Q : R := \sum_h Q h * sample_rate S h.
Definition mean_rate Q : R := \sum_h Q h * error_rate w (wrong h).
Let mR : 0 < (m%:R : R). Proof. by rewrite ltr0n. Qed.

Lemma errors_le S h : (errors (wrong h) S <= m)%N.
Proof. by rewrite /errors -[X in (_ <= X)%N](card_ord m) -sum1_card; apply: leq_sum => i _; exact: leq_b1. Qed.
Lemma rate01 S h : 0 <= sample_rate S h <= 1.
Proof. by rewrite divr_ge0 ?ler0n //= ler_pdivr_mulr // mul1r ler_nat errors_le. Qed.
Lemma moment h : Ex w (fun S => expR (m%:R * kl (sample_rate S h) (error_rate w (wrong h)))) <= xi R m.
Proof.
pose f (k : nat) := expR (m%:R * kl (k%:R / m%:R) (error_rate w (wrong h))).
rewrite (eq_Ex w (g := fun S => \sum_(k < m.+1) f k * (errors (wrong h) S == k)%:R)) => [|S]; last first.
  rewrite (bigD1 (Ordinal (errors_le S h : errors (wrong h) S < m.+1)%N)) //= eqxx mulr1 big1 ?addr0 // => k.
  by rewrite -val_eqE /= eq_sym => /negbTE ->; rewrite mulr0.
have -> : Ex w (fun S => \sum_(k < m.+1) f k * (errors (wrong h) S == k)%:R) = \sum_(k < m.+1) f k * pmf m k (error_rate w (wrong h)).
  rewrite /Ex; under eq_bigr do rewrite mulr_sumr; rewrite exchange_big; apply: eq_bigr => k _ /=.
  by rewrite -(errors_law _ w1) /Ex mulr_sumr; apply: eq_bigr => S _; rewrite mulrCA.
by apply: ler_sum => k _; apply: moment_term => //; [rewrite -ltnS ltn_ord | exact: error_rate01].
Qed.
Lemma xi_ge1 : 1 <= xi R m.
Proof.
rewrite /xi big_ord_recl /= mul0r subr0 expr0 expr1n bin0 !mulr1 ler_addl; apply: sumr_ge0 => k _.
rewrite !mulr_ge0 ?ler0n ?exprn_ge0 ?divr_ge0 ?ler0n // subr_ge0 ler_pdivr_mulr // mul1r ler_nat; exact: ltn_ord.
Qed.
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
(* the samples of positive probability see no error where there is none, and nothing else where there is nothing else *)
Lemma seen_zero S h : 0 < \prod_i w (S i) -> error_rate w (wrong h) = 0 -> sample_rate S h = 0.
Proof.
move=> wS /eqP; rewrite psumr_eq0 => [/allP z|a _]; last by rewrite mulr_ge0 ?ler0n.
rewrite /sample_rate /errors big1 ?mul0r // => i _; have := z (S i) (mem_index_enum _); rewrite mulf_eq0 pnatr_eq0 eqb0 /= => /orP[wz|/negbTE->//].
by move: wS; rewrite (bigD1 i) //= (eqP wz) mul0r ltxx.
Qed.
Lemma seen_one S h : 0 < \prod_i w (S i) -> error_rate w (wrong h) = 1 -> sample_rate S h = 1.
Proof.
move=> wS e1; have /eqP : \sum_a w a * (~~ wrong h a)%:R = 0.
  have : error_rate w (wrong h) + \sum_a w a * (~~ wrong h a)%:R = 1.
    by rewrite /error_rate -big_split /= -[RHS]w1; apply: eq_bigr => a _; rewrite -mulrDr; case: (wrong h a); rewrite ?addr0 ?add0r mulr1.
  by rewrite e1 -[X in _ = X]addr0 => /addrI.
rewrite psumr_eq0 => [/allP z|a _]; last by rewrite mulr_ge0 ?ler0n.
rewrite /sample_rate /errors (eq_bigr (fun=> 1%N)) ?sum1_card ?card_ord ?divff ?gt_eqF // => i _.
have := z (S i) (mem_index_enum _); rewrite mulf_eq0 pnatr_eq0 eqb0 negbK /= => /orP[wz|->//].
by move: wS; rewrite (bigD1 i) //= (eqP wz) mul0r ltxx.
Qed.

Theorem pac_bayes_dual : Ex w (fun S => `[< exists Q l, law Q /\
  KL Q + ln (xi R m / delta) < m%:R * dual l (mean_sample_rate S Q) (mean_rate Q) >]%:R) <= delta.
Proof.
pose F S := \sum_h P h * expR (m%:R * kl (sample_rate S h) (error_rate w (wrong h))).
have xi0 : 0 < xi R m := lt_le_trans ltr01 xi_ge1.
have EF : Ex w F <= xi R m.
  rewrite /F (_ : Ex w _ = \sum_h P h * Ex w (fun S => expR (m%:R * kl (sample_rate S h) (error_rate w (wrong h))))); last first.
    rewrite /Ex; under eq_bigr do rewrite mulr_sumr; rewrite exchange_big; apply: eq_bigr => h _; rewrite mulr_sumr.
    by apply: eq_bigr => S _; rewrite mulrCA.
  apply: (@le_trans _ _ (\sum_h P h * xi R m)); last by rewrite -mulr_suml P1 mul1r.
  by apply: ler_sum => h _; rewrite ler_pmul2l //; exact: moment.
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
have conc : \sum_h Q h * ln (1 - error_rate w (wrong h) + error_rate w (wrong h) * expR l) <= ln (1 - mean_rate Q + mean_rate Q * expR l).
  have Zp h : 0 < 1 - error_rate w (wrong h) + error_rate w (wrong h) * expR l by exact: (Z_gt0 l (error_rate01 _ w0 w1)).
  have := @expR_jensen R _ (index_enum Hyp) Q (fun h => ln (1 - error_rate w (wrong h) + error_rate w (wrong h) * expR l)) Q0 Q1.
  rewrite [X in _ <= X](eq_bigr (fun h => Q h * (1 - error_rate w (wrong h) + error_rate w (wrong h) * expR l))) => [|h _]; last by rewrite lnK ?posrE ?Zp.
  have -> : \sum_h Q h * (1 - error_rate w (wrong h) + error_rate w (wrong h) * expR l) = 1 - mean_rate Q + mean_rate Q * expR l.
    rewrite (eq_bigr (fun h => Q h - Q h * error_rate w (wrong h) + Q h * error_rate w (wrong h) * expR l)) => [|h _]; last first.
      by move: (error_rate _ _) (expR l) (Q h) => a b c; ring.
    by rewrite big_split /= sumrB Q1 -mulr_suml.
  move=> le1; rewrite -ler_expR lnK // posrE; exact: lt_le_trans (expR_gt0 _) le1.
apply: (@le_trans _ _ (\sum_h Q h * (m%:R * dual l (sample_rate S h) (error_rate w (wrong h))))).
  rewrite (eq_bigr (fun h => m%:R * (l * (Q h * sample_rate S h)) - m%:R * (Q h * ln (1 - error_rate w (wrong h) + error_rate w (wrong h) * expR l)))); last first.
    by move=> h _; rewrite /dual; move: (ln _) (sample_rate _ _) (Q h) => a b c; ring.
  by rewrite sumrB -!mulr_sumr -/(mean_sample_rate S Q) -mulrBr ler_pmul2l // ler_add2l ler_opp2.
apply: ler_sum => h _; rewrite ler_wpmul2l // ler_pmul2l //; apply: dual_le_kl.
- exact: rate01.
- exact: error_rate01.
- exact: seen_zero.
- exact: seen_one.
Qed.
Theorem pac_bayes_kl : Ex w (fun S => `[< exists Q, [/\ law Q, 0 < mean_rate Q < 1 &
  (KL Q + ln (xi R m / delta)) / m%:R < kl (mean_sample_rate S Q) (mean_rate Q)] >]%:R) <= delta.
Proof.
apply: le_trans pac_bayes_dual; apply: Ex_le => // S; case: asboolP => [[Q [lQ p01 lt]]|_]; last exact: ler0n.
have [Q0 Q1] := lQ; rewrite asboolT ?lexx //; apply: contrapT => none; move: lt; rewrite ltNge => /negP; apply.
apply: kl_le_dual => // [|l].
  have r h := rate01 S h; rewrite sumr_ge0 => [|h _]; last by rewrite mulr_ge0 //; case/andP: (r h).
  apply: (@le_trans _ _ (\sum_h Q h)); last by rewrite Q1.
  by apply: ler_sum => h _; rewrite ler_pimulr //; case/andP: (r h).
by rewrite ler_pdivl_mulr // mulrC leNgt; apply/negP => lt; apply: none; exists Q, l.
Qed.
Theorem pac_bayes_inverse : Ex w (fun S => `[< exists Q, law Q /\
  kl_inverse (mean_sample_rate S Q) ((KL Q + ln (xi R m / delta)) / m%:R) < mean_rate Q >]%:R) <= delta.
Proof.
apply: le_trans pac_bayes_dual; apply: Ex_le => // S; case: asboolP => [[Q [lQ lt]]|_]; last exact: ler0n.
have [Q0 Q1] := lQ; rewrite asboolT ?lexx //; apply: contrapT => none; move: lt; rewrite ltNge => /negP; apply.
apply: sup_ub; first by exists 1 => p [/andP[]].
have r h := @error_rate01 R I w (wrong h) w0 w1; split=> [|l].
  rewrite sumr_ge0 => [|h _]; last by rewrite mulr_ge0 //; case/andP: (r h).
  apply: (@le_trans _ _ (\sum_h Q h)); last by rewrite Q1.
  by apply: ler_sum => h _; rewrite ler_pimulr //; case/andP: (r h).
by rewrite ler_pdivl_mulr // mulrC leNgt; apply/negP => lt; apply: none; exists Q, l.
Qed.
End PacBayes.
