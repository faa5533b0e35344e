(* Σ_{n=1..N} 1/n² <= π²/6, for the prior 1/((π²/3 - 1)(|j|+1)²) over all integers j. No limits: 4/sin²(2y) = 1/sin²y + 1/cos²y doubles
   1/sin²(π/4) = 2 into Σ_k 1/sin²((2k+1)π/2^(n+2)) = 2·4^n, sin y <= y gives the odd n, and S_N <= S_2N <= π²/8 + S_N/4 the rest. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import zify.
From mathcomp.algebra_tactics Require Import ring.
From mathcomp.classical Require Import boolp classical_sets functions mathcomp_extra.
From mathcomp.analysis Require Import reals signed topology normedtype sequences derive realfun exp trigo.
From AdaNet Require Import signs.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Import numFieldNormedType.Exports.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.

Section Basel.
Variable R : realType.
Local Notation pi := (@pi R).
Implicit Types (y : R) (n N k : nat).

Lemma sin_le y : 0 < y -> sin y <= y.
Proof.
move=> y0; have [c _] : exists2 c, c \in `]0, y[%R & sin y - sin 0 = cos c * (y - 0).
  by apply: (@MVT R (@sin R) (@cos R)) => //; apply: continuous_subspaceT => z; exact: continuous_sin.
by rewrite sin0 !subr0 => ->; rewrite ler_pimull ?cos_le1 // ltW.
Qed.
Lemma csc_double y : sin y != 0 -> cos y != 0 -> 4%:R / sin (y + y) ^+ 2 = (sin y ^+ 2)^-1 + (cos y ^+ 2)^-1.
Proof.
move=> s0 c0; rewrite sinD [cos y * sin y]mulrC -mulr2n -[_ *+ 2]mulr_natr; have e := cos2Dsin2 y.
have -> : (sin y ^+ 2)^-1 + (cos y ^+ 2)^-1 = (cos y ^+ 2 + sin y ^+ 2) / (sin y ^+ 2 * cos y ^+ 2).
  by move: (sin y) (cos y) s0 c0 => a b a0 b0; field; rewrite a0 b0.
by rewrite e; move: (sin y) (cos y) s0 c0 => a b a0 b0; field; rewrite a0 b0.
Qed.

(* (2k+1)π/2^(n+2), for k < 2^n inside (0, π/2) *)
Definition angle n k : R := k.*2.+1%:R * pi / (2 ^ n.+2)%:R.
Lemma angle_gt0 n k : 0 < angle n k.
Proof. by rewrite !mulr_gt0 ?ltr0n ?pi_gt0 // invr_gt0 ltr0n expn_gt0. Qed.
Lemma angle_lt n k : (k < 2 ^ n)%N -> angle n k < pi / 2%:R.
Proof.
move=> kn; rewrite /angle ltr_pdivr_mulr ?ltr0n ?expn_gt0 // mulrAC -[X in _ < X]mulrA [X in _ < X]mulrC ltr_pmul2r ?pi_gt0 //.
rewrite expnS natrM mulrAC mulfV ?pnatr_eq0 // mul1r ltr_nat expnS mul2n.
by rewrite -[X in (_ < X)%N]/((2 ^ n).*2) -doubleS leq_double.
Qed.
Lemma angle_sin n k : (k < 2 ^ n)%N -> 0 < sin (angle n k).
Proof. by move=> kn; apply: sin_gt0_pihalf; rewrite angle_gt0 angle_lt. Qed.
Lemma angle_cos n k : (k < 2 ^ n)%N -> 0 < cos (angle n k).
Proof. by move=> kn; apply: cos_gt0_pihalf; rewrite angle_lt // andbT (lt_trans _ (angle_gt0 n k)) // oppr_lt0 divr_gt0 ?pi_gt0 ?ltr0n. Qed.

Lemma pow2_neq0 n : (2 ^ n)%:R != 0 :> R. Proof. by rewrite pnatr_eq0 expn_eq0. Qed.
Lemma angle_half n k : angle n.+1 k + angle n.+1 k = angle n k.
Proof.
by rewrite /angle [(2 ^ n.+3)%N]expnS natrM; move: (pow2_neq0 n.+2); move: ((2 ^ n.+2)%:R : R) (k.*2.+1%:R : R) => c a h; field.
Qed.
Lemma angle_rev n k : (k < 2 ^ n)%N -> angle n.+1 (2 ^ n + (2 ^ n - k.+1)) = pi / 2%:R - angle n.+1 k.
Proof.
move=> kn; have e : (2 ^ n + (2 ^ n - k.+1)).*2.+1%:R = 4%:R * (2 ^ n)%:R - k.*2.+1%:R :> R.
  apply/eqP; rewrite eq_sym subr_eq -natrM -natrD eqr_nat; apply/eqP; move: (2 ^ n)%N kn => a; lia.
rewrite /angle e !expnS !natrM; move: (pow2_neq0 n); move: ((2 ^ n)%:R : R) (k.*2.+1%:R : R) => c a h.
by field.
Qed.

Lemma sum_csc n : \sum_(k < 2 ^ n) (sin (angle n k) ^+ 2)^-1 = 2%:R * 4%:R ^+ n.
Proof.
elim: n => [|n IH].
  rewrite big_ord1 expr0 mulr1; pose y := angle 0 0; have y2 : y + y = pi / 2%:R by rewrite /y /angle double0 expnS expn1 mul1r natrM; field.
  have e := cos2Dsin2 y; have sc : cos y = sin y by rewrite -[y in LHS](addrK y y) y2 cosB cos_pihalf sin_pihalf mul0r add0r mul1r.
  rewrite -/y; rewrite sc -mulr2n -[_ *+ 2]mulr_natr in e; apply: (mulIf (x := sin y ^+ 2)).
    by apply: contra_eq_neq e => ->; rewrite mul0r eq_sym oner_eq0.
  by rewrite mulVf 1?mulrC ?e //; apply: contra_eq_neq e => ->; rewrite mul0r eq_sym oner_eq0.
rewrite exprS mulrCA -IH mulr_sumr (_ : (2 ^ n.+1 = 2 ^ n + 2 ^ n)%N); last by rewrite expnS mul2n addnn.
rewrite big_split_ord /= [X in _ + X](reindex_inj rev_ord_inj) -big_split; apply: eq_bigr => k _ /=.
rewrite angle_rev // -(angle_half n k) sinB sin_pihalf cos_pihalf mul0r subr0 mul1r csc_double //.
- by rewrite gt_eqF // angle_sin // (leq_trans (ltn_ord k)) // leq_exp2l.
- by rewrite gt_eqF // angle_cos // (leq_trans (ltn_ord k)) // leq_exp2l.
Qed.

(* the odd ones, then all *)
Definition odd_squares N : R := \sum_(k < N) (k.*2.+1%:R ^+ 2)^-1.
Lemma odd_squares_le N : odd_squares N <= pi ^+ 2 / 8%:R.
Proof.
have mono n : (N <= n)%N -> odd_squares N <= odd_squares n.
  move=> /subnK<-; rewrite addnC /odd_squares big_split_ord /= ler_addl; apply: sumr_ge0 => k _.
  by rewrite invr_ge0 sqr_ge0.
apply: le_trans (mono (2 ^ N)%N (ltnW (ltn_expl _ _))) _ => //; have p0 := @pi_gt0 R.
have le1 : \sum_(k < 2 ^ N) (angle N k ^+ 2)^-1 <= 2%:R * 4%:R ^+ N.
  rewrite -sum_csc; apply: ler_sum => k _; have s0 := angle_sin (ltn_ord k).
  by rewrite ler_pinv ?inE ?unitfE ?gt_eqF ?exprn_gt0 ?angle_gt0 // ler_expn2r ?nnegrE ?(ltW s0) ?(ltW (angle_gt0 _ _)) // sin_le // angle_gt0.
have -> : odd_squares (2 ^ N) = (\sum_(k < 2 ^ N) (angle N k ^+ 2)^-1) * (pi ^+ 2 / (16%:R * 4%:R ^+ N)).
  rewrite mulr_suml; apply: eq_bigr => k _; rewrite /angle.
  have -> : (2 ^ N.+2)%:R = 4%:R * 2%:R ^+ N :> R by rewrite !expnS mulnA natrM natrX.
  have -> : (4%:R : R) ^+ N = (2%:R ^+ N) ^+ 2 by rewrite -exprM mulnC exprM; congr (_ ^+ _); rewrite -natrX.
  have : 2%:R ^+ N != 0 :> R by rewrite expf_neq0 // pnatr_eq0.
  have : k.*2.+1%:R != 0 :> R by rewrite pnatr_eq0.
  move: (gt_eqF p0); move: pi (k.*2.+1%:R : R) (2%:R ^+ N : R) => a b c a0 b0 c0.
  by field; rewrite a0 b0 c0.
have q0 : 0 <= pi ^+ 2 / (16%:R * 4%:R ^+ N) by rewrite divr_ge0 ?sqr_ge0 // mulr_ge0 ?ler0n ?exprn_ge0 ?ler0n.
apply: le_trans (ler_wpmul2r q0 le1) _; have : 4%:R ^+ N != 0 :> R by rewrite expf_neq0 // pnatr_eq0.
by move: pi (4%:R ^+ N : R) => a b b0; rewrite le_eqVlt; apply/orP; left; apply/eqP; field.
Qed.

Theorem basel N : \sum_(k < N) (k.+1%:R ^+ 2)^-1 <= pi ^+ 2 / 6%:R.
Proof.
pose S n : R := \sum_(k < n) (k.+1%:R ^+ 2)^-1; rewrite -/(S N).
have dbl n : S n.*2 = odd_squares n + S n / 4%:R.
  rewrite /S /odd_squares; elim: n => [|n IH]; first by rewrite !big_ord0 mul0r addr0.
  rewrite doubleS !big_ord_recr /= IH (_ : n.*2.+2%:R = n.+1%:R * 2%:R); last by rewrite -doubleS -muln2 natrM.
  move: (\sum_(k < n) _) (\sum_(k < n) _) => a b; rewrite mulrDl.
  have h : n.+1%:R != 0 :> R by rewrite pnatr_eq0.
  have -> : ((n.+1%:R * 2%:R : R) ^+ 2)^-1 = (n.+1%:R ^+ 2)^-1 / 4%:R by move: (n.+1%:R : R) h => c c0; field.
  by move: (_^-1) (_^-1) (_ / 4%:R) => c d e; ring.
have mono : S N <= S N.*2.
  rewrite -addnn /S big_split_ord /= ler_addl; apply: sumr_ge0 => k _; by rewrite invr_ge0 sqr_ge0.
have := odd_squares_le N; rewrite dbl in mono; move: (S N) (odd_squares N) (pi ^+ 2) mono => a b c h1 h2.
have h3 := ler_wpmul2l (_ : 0 <= 4%:R / 3%:R :> R) (ler_add h1 h2).
by apply: (le_by (h3 _)); [rewrite divr_ge0 ?ler0n | field].
Qed.
End Basel.
