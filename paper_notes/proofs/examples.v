(* The hypotheses can be met, and what is bounded is not 0 for want of a supremum: a net whose families have R_S > 0 at every depth, a
   distribution of two atoms on which margin-bound fails with positive probability, as it may, and a network and a certificate for the rest. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From mathcomp.classical Require Import boolp classical_sets.
From mathcomp.analysis Require Import reals sequences exp.
From AdaNet Require Import signs suprema exponential norms activations families lemma_2_peeled depth_lower h1 distributions symmetrisation margin_bound.
From AdaNet Require Import priors path_classes a_posteriori held_out entropy pac_bayes_kl vote_certificate.
From AdaNet Require Import occam_certificate pick_bound preferent pick_certificate.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.

Section Examples.
Variable R : realType.

(* one unit in every layer, Λ = 1, p = 1, ReLU, one point with Ψ = 1 *)
Let N : net R := Net (fun=> 1%N) (fun _ _ => ler01 : 0 <= 1 :> R) (Finite (lexx 1)) (fun=> @relu R).
Let Psi (_ : unit) (_ : 'I_1) : R := 1.
Let x (_ : 'I_1) := tt.
Lemma example_lemma_2 k : (0 < k)%N -> 0 < Rad x (H (N := N) Psi k) <=
  r_rms Psi x * P N (fun=> 1) k * Num.sqrt (2%:R * (ln (2%:R * 1%:R) + ln (D N (fun=> 1) (fun=> 3%:R / 2%:R) k)) / 1%:R).
Proof.
move=> k0; rewrite (lemma_2_relu (N := N)) // andbT; elim: k k0 => // -[_ _|k IH _].
  have one s : norm (Infinite : exponent R) (fun j : 'I_1 => dot s (fun i : 'I_1 => Psi (x i) j)) = 1.
    apply/eqP; rewrite /= (eq_bigr (fun=> 1)) => [|j _]; last by rewrite /dot big_ord1 mulr1 norm_sg.
    by rewrite big_ord_recl big_ord0 max_l ?ler01.
  by rewrite (@h1_exact R unit N Psi 1 x Infinite) // (eq_E one) E_const /= invr1 !mulr1 ltr01.
apply: lt_le_trans (depth_lower_half (N := N) Psi x (ltn0Sn k) (fun=> erefl)).
by rewrite divr_gt0 ?ltr0n // mul1r mulr_gt0 ?IH // root_q_gt0.
Qed.

(* atoms true and false with probabilities 1/20 and 19/20, one draw; G = {c 1[true] : |c| <= 1}. On the sample (true) the ramp is 0, and R(f) = 19/20 *)
Let w (a : bool) : R := if a then 20%:R^-1 else 19%:R / 20%:R.
Let G (_ : 'I_1) : set (bool -> R) := [set g | exists c : R, `|c| <= 1 /\ forall a : bool, g a = c * a%:R].
Let w0 a : 0 <= w a. Proof. by rewrite /w; case: a; rewrite ?divr_ge0 ?invr_ge0 ?ler0n. Qed.
Let w1 : \sum_a w a = 1. Proof. by rewrite big_bool /w /=; field. Qed.
Lemma example_margin_bound : 0 < Ex w (fun S : {ffun 'I_1 -> bool} => (failure w G 1
  (2%:R * 1 / 1 * Num.sqrt (2%:R * ln 1%:R / 1%:R) + Num.sqrt (ln (2%:R^-1)^-1 / (2%:R * 1%:R))) S)%:R) <= 2%:R^-1.
Proof.
have half : 0 < (2%:R^-1 : R) < 1 by rewrite invr_gt0 ltr0n invf_lt1 ?ltr0n // ltr1n.
apply/andP; split; last first.
  apply: (margin_bound w0 w1 (ltn0Sn 0) (ltn0Sn 0) ltr01 _ _ _ half) => [k|k g [c [c1 gE]]|k g a [c [c1 gE]]].
  - by exists 0; rewrite normr0 ler01; split=> // a; rewrite mul0r.
  - by exists (- c); rewrite normrN; split=> // a; rewrite gE mulNr.
  - by rewrite gE normrM mulr_ile1 // ger0_norm ?ler0n // lern1 leq_b1.
pose S : {ffun 'I_1 -> bool} := [ffun=> true].
pose th := @Ensemble R bool_finType 1 1 (fun=> 1) (fun=> ord0) (fun _ (a : bool) => a%:R).
suff fail : failure w G 1 (2%:R * 1 / 1 * Num.sqrt (2%:R * ln 1%:R / 1%:R) + Num.sqrt (ln (2%:R^-1)^-1 / (2%:R * 1%:R))) S.
  rewrite /Ex (bigD1 S) //= fail ltr_paddr //.
    by apply: sumr_ge0 => T _; rewrite mulr_ge0 ?ler0n // prodr_ge0.
  by rewrite mulr1 big_ord1 ffunE invr_gt0 ltr0n.
have vE a : value th a = a%:R by rewrite /value big_ord1 mul1r.
apply/asboolP; exists th; split.
  split=> [|t]; first by rewrite big_ord1 normr1.
  by exists 1; rewrite normr1; split=> // a; rewrite mul1r.
have -> : ramp_loss 1 S th = 0.
  by rewrite /ramp_loss big1 ?mulr0 // => i _; rewrite vE ffunE /ramp divr1 subrr min_r ?ler01 // max_l.
have -> : risk w th = 19%:R / 20%:R.
  by rewrite /risk big_bool !vE /= lexx ler10 mulr0 add0r mulr1.
have rm : Rm w 1 G ord0 <= 20%:R^-1.
  have -> : 20%:R^-1 = Ex w (fun T : {ffun 'I_1 -> bool} => (T ord0)%:R) :> R.
    by rewrite (Ex_one (fun a : bool => a%:R)) // big_bool /= mulr1 mulr0 addr0.
  apply: Ex_le => // T; rewrite /Rad invr1 mul1r -[X in _ <= X](E_const 1); apply: E_le => s.
  apply: Sup_le => [|g [c [c1 gE]]]; first by exists (fun=> 0), 0; rewrite normr0 ler01; split=> // a; rewrite mul0r.
  rewrite /dot big_ord1 /at_sample gE; apply: le_trans (ler_norm _) _; rewrite !normrM norm_sg mul1r [`|_%:R|]ger0_norm ?ler0n //.
  by rewrite ler_pimull ?ler0n.
have pen : penalty w 1 G 1 th <= 20%:R^-1 by rewrite /penalty invr1 mul1r big_ord1 normr1 mul1r.
have ln2 : ln (2%:R^-1)^-1 <= 1 :> R.
  by rewrite invrK; have := expR_ge1D (ln 2%:R : R); rewrite lnK ?posrE ?ltr0n // [X in _ <= X]mulr2n ler_add2l.
have root : Num.sqrt (ln (2%:R^-1)^-1 / (2%:R * 1%:R)) <= (3%:R / 4%:R : R).
  have q0 : 0 <= 3%:R / 4%:R :> R by rewrite divr_ge0 ?ler0n.
  rewrite -[X in _ <= X](ger0_norm q0) -sqrtr_sqr ler_wsqrtr // mulr1 ler_pdivr_mulr ?ltr0n //; apply: le_trans ln2 _.
  by rewrite -subr_ge0 (_ : _ - _ = 8%:R^-1); [rewrite invr_ge0 ler0n | field].
rewrite ln1 mulr0 mul0r sqrtr0 mulr0 add0r add0r.
apply: le_lt_trans (ler_add (ler_wpmul2l (ler0n R 2) pen) root) _; rewrite -subr_gt0 (_ : _ - _ = 10%:R^-1); [by rewrite invr_gt0 ltr0n | by field].
Qed.

(* a network of path norm 1, and ReLU *)
Lemma example_a_posteriori (I : finType) (u : I -> R) (ys : I -> bool) m : (forall i, 0 <= u i) -> \sum_i u i = 1 -> (0 < m)%N ->
  let Psi (_ : I) (_ : 'I_1) : R := 1 in
  (exists f : network R 1, 0 < path_norm f) /\
  Ex u (fun S : {ffun 'I_m -> I} => `[< exists (f : network R 1) (j : int), 0 < path_norm f /\
    network_ramp Psi (@relu R) id ys (path_norm f / scale 1 j) S f
    + 2%:R * scale 1 j * (r_rms Psi (fun i => S i) * Num.sqrt (2%:R * ln (2%:R * 1%:R * A (3%:R / 2%:R) (d f)) / m%:R))
    + 2%:R * confidence m 2%:R^-1 (d f) j < network_risk Psi (@relu R) u id ys f >]%:R) <= 2%:R^-1.
Proof.
move=> u0 u1 m0 Psi1; split.
  exists (@Network R 1 0 (fun=> 0%N) (fun _ _ => 0) (fun _ _ _ _ => 0) (fun=> 1) (fun _ _ => 0)).
  by rewrite /path_norm big_ord1 normr1 big_geq // addr0 ltr01.
have [[hom peel] _ _ _] := homogeneous_activations R.
by apply: a_posteriori => //; rewrite ?ltr01 // invr_gt0 ltr0n invf_lt1 ?ltr0n // ltr1n.
Qed.

(* one setting: N = 3 votes, at most one of them right, the urn with one ball of each voter; every f that is not 0 *)
Lemma example_vote_certificate (I : finType) (u : I -> R) (ys : I -> bool) n0 (Psi0 : I -> 'I_n0 -> R) m : (forall i, 0 <= u i) -> \sum_i u i = 1 -> (0 < m)%N ->
  (forall a j, `|Psi0 a j| <= 1) ->
  Ex u (fun S : {ffun 'I_m -> I} => `[< exists v : 'I_n0 -> R, (exists j, v j != 0) /\
    let B := \sum_j `|v j| in let theta q := if (v q.1 < 0) == q.2 then `|v q.1| / B else 0 in
    kl_inverse (m%:R^-1 * \sum_i cdf 3 1 ((1 + linear_margin Psi0 id ys v (S i) / B) / 2%:R)) ((vote_KL (n0 * 2) 3 1 theta + ln (xi R m / 2%:R^-1)) / m%:R)
    < linear_risk Psi0 u id ys v / 2%:R >]%:R) <= 2%:R^-1.
Proof.
move=> u0 u1 m0 Psi1; have half : 0 < 2%:R^-1 :> R by rewrite invr_gt0 ltr0n.
have one : forall r : seq unit_eqType, uniq r -> \sum_(s <- r) (1 : R) <= 1.
  by move=> [|[] [|[] r]] //; rewrite ?big_nil ?big_seq1 ?ler01.
have all := @vote_certificate R I n0 Psi0 I u id ys m unit_eqType (fun=> 3%N) (fun=> 1%N) (fun=> 1) (fun=> 1) 2%:R^-1
  u0 u1 m0 Psi1 (fun=> ler01) (fun=> ltr01) one half.
apply: le_trans all.
apply: Ex_le => // S; case: asboolP => [[v [vn lt]]|_]; last exact: ler0n.
rewrite asboolT ?lexx //; exists tt, v; eexists; exists (\sum_j `|v j|); split; first exact: represented.
have b2 : cdf 3 1 (2%:R^-1 : R) = 2%:R^-1.
  by rewrite /cdf big_ord_recl big_ord1 /pmf /= bin0 bin1 !expr0 !expr1; field.
by rewrite b2 mulr1 ltr_pdivr_mulr // mulrC [_ * linear_risk _ _ _ _ _]mulrC.
Qed.

(* two points alike, one draw; h_0 errs at true, and one pick mends it. On the sample (false) nothing is picked: ε(0) = 1/4 at δ = 3/4, and R(h_0) = 1/2 *)
Let wrong (T : seq (seq bool)) (z : bool) := (T == [::]) && z.
Let worse (T : seq (seq bool)) (x y : bool) := x ==> y.
Let fair (a : bool) : R := 2%:R^-1.
Lemma example_pick_certificate :
  0 < Ex fair (fun S : {ffun 'I_1 -> bool} => let T := (pick worse wrong (fun=> 1%N) (fun=> false) (rows S)).1 in
    let q := (pick worse wrong (fun=> 1%N) (fun=> false) (rows S)).2 in
    ((pick_bound 1 (seq.size (flatten T) + seq.size q) (3%:R / 4%:R) < error_rate fair (wrong T))%R)%:R) <= 3%:R / 4%:R.
Proof.
have u0 (a : bool) : 0 <= fair a by rewrite invr_ge0 ler0n.
have u1 : \sum_(a : bool) fair a = 1 by rewrite big_bool /fair /=; field.
have d0 : 0 <= 3%:R / 4%:R :> R by rewrite divr_ge0 ?ler0n.
have dp : 0 < 3%:R / 4%:R :> R by rewrite divr_gt0 ?ltr0n.
apply/andP; split; last first.
  by apply: (@pick_certificate R _ _ worse wrong (fun=> 1%N) (fun=> false) wrong 1) => // T; [case; case | case; case; case | case; case].
pose S : {ffun 'I_1 -> bool} := [ffun=> false].
have rS : rows S = [:: false] by rewrite /rows enum_ordSl /= ffunE (size0nil (size_enum_ord 0)).
rewrite /Ex (bigD1 S) //= ltr_paddr //.
  by apply: sumr_ge0 => T _; rewrite mulr_ge0 ?ler0n // prodr_ge0.
rewrite big_ord1 rS; have -> : pick worse wrong (fun=> 1%N) (fun=> false) [:: false] = ([::], [::]) by [].
have -> : pick_bound 1 (seq.size (flatten ([::] : seq (seq bool))) + seq.size ([::] : seq bool)) (3%:R / 4%:R) = 4%:R^-1 :> R.
  have q4 : 0 <= (4%:R^-1 : R) < 1 by rewrite invr_ge0 ler0n invf_lt1 ?ltr0n // ltr1n.
  by apply: pick_bound_root => //; rewrite /pick_sum big_nat1 !bin0 expr1; field.
rewrite /error_rate big_bool /wrong /= mulr1 mulr0 addr0 ltf_pinv ?posrE ?ltr0n // ltr_nat /= mulr1.
by rewrite invr_gt0 ltr0n.
Qed.

(* infinitely many networks: the n-th has the word 1..10 of n+1 bits *)
Lemma example_occam_certificate (I : finType) (u : I -> R) (err : nat_eqType -> I -> bool) m : (forall i, 0 <= u i) -> \sum_i u i = 1 ->
  Ex u (fun S : {ffun 'I_m -> I} => `[< exists n, clopper_pearson m (errors (err n) S) (2%:R^-1 * 2%:R^-1 ^+ n.+1) < error_rate u (err n) >]%:R) <= 2%:R^-1.
Proof.
move=> u0 u1; have free : code_free (fun n : nat_eqType => rcons (nseq n true) false) by elim=> [|n IH] [|n'] //= /IH ->.
have half : 0 <= 2%:R^-1 :> R by rewrite invr_ge0 ler0n.
apply: le_trans (occam_code (w := u) m err u0 u1 free half); apply: Ex_le => // S.
case: asboolP => [[n lt]|_]; last exact: ler0n.
by rewrite asboolT ?lexx //; exists n; rewrite size_rcons size_nseq.
Qed.
End Examples.
