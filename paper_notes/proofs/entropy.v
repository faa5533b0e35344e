(* kl(q, p) as the sup of λq - log(1 - p + pe^λ), its inverse, ξ(m), and e^(m kl(k/m, p)) P[Bin(m, p) = k], which does not depend on p. *)
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

Lemma ln_prod (T : Type) (r : seq T) (f : T -> R) : (forall t, 0 < f t) -> ln (\prod_(t <- r) f t) = \sum_(t <- r) ln (f t).
Proof.
move=> f0; elim: r => [|t r IH]; first by rewrite !big_nil ln1.
by rewrite !big_cons lnM ?posrE ?IH // prodr_gt0.
Qed.
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
Lemma dual_self p l : 0 <= p <= 1 -> dual l p p <= 0.
Proof.
move=> p01; have self x : x * ln (x / x) = 0 by have [->|xn] := eqVneq x 0; rewrite ?mul0r // divff // ln1 mulr0.
by have := dual_le_kl l p01 p01 id id; rewrite /kl !self addr0.
Qed.
(* it grows in both: an upper value for q or c gives an upper value *)
Theorem kl_inverse_grows q q' c c' : 0 <= q -> q <= q' -> q' <= 1 -> 0 <= c -> c <= c' -> kl_inverse q c <= kl_inverse q' c'.
Proof.
move=> q0 qq q1 c0 cc; have q01 : 0 <= q <= 1 by rewrite q0 (le_trans qq).
have q01' : 0 <= q' <= 1 by rewrite q1 (le_trans q0).
have ub p : 0 <= p <= 1 -> (forall l, dual l q' p <= c') -> p <= kl_inverse q' c'.
  by move=> p01 hp; apply: sup_ub; [exists 1 => z [/andP[]] | split].
apply: sup_le_ub => [|p [p01 hp]]; first by exists q; split=> // l; exact: le_trans (dual_self l q01) c0.
have [pq|qp] := ltP p q'.
  by apply: le_trans (ltW pq) _; apply: ub => // l; apply: le_trans (dual_self l q01') (le_trans c0 cc).
apply: ub => // l; apply: le_trans cc; have [l0|l0] := leP l 0.
  by apply: le_trans (hp l); rewrite /dual ler_add2r ler_wnmul2l.
apply: le_trans c0; apply: le_trans (dual_self l p01); by rewrite /dual ler_add2r ler_pmul2l.
Qed.

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
