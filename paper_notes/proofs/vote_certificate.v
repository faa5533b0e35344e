(* vote-certificate, distributions of finite support: f = Σ_j v_jΨ_j with |Ψ_j| <= 1, θ a law on the n = 2n_0 signed voters with
   v_j = B(θ_{j,+} - θ_{j,-}), B > 0, u_i = y_i f(x_i)/B. With probability 1 - δ, for every f, θ and setting (N, k, β) at once,
     R(f) <= kl⁻¹((1/m) Σ_i P[Bin(N, (1+u_i)/2) <= k], [KL_N + log(ξ(m)/(δ prior))]/m) / P[Bin(N, 1/2) <= k].
   A hypothesis is a sequence of N voters; its loss is the probability that at most k of them are right when each draws its own uniform
   threshold, and so votes right with probability (1 + y s_jΨ_j)/2. The thresholds are integrated out: the hypotheses are finitely many. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From mathcomp.classical Require Import boolp classical_sets.
From mathcomp.analysis Require Import reals sequences exp.
From AdaNet Require Import signs distributions symmetrisation held_out one_class priors entropy pac_bayes_kl.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* P[Bin(N, p) <= k] falls in p and is positive at 1/2 *)
Section Binomial.
Variable R : realType.
Implicit Types p : R.
Let below m e p : R := \sum_(k < e) pmf m k p.
Let belowS m e p : below m.+1 e.+1 p = (1 - p) * below m e.+1 p + p * below m e p.
Proof.
rewrite /below (eq_bigr _ (fun (k : 'I_e.+1) _ => pmf_rec m k p)) big_split /= -mulr_sumr; congr (_ + _).
by rewrite big_ord_recl add0r mulr_sumr.
Qed.
Let below_falls m e p p' : 0 <= p -> p <= p' -> p' <= 1 -> below m e p' <= below m e p.
Proof.
move=> p0 pp p1; elim: m e => [|m IH] [|e]; rewrite /below ?big_ord0 //.
  by apply: ler_sum => -[[|k] ke] _; rewrite /pmf /= ?expr0 // bin0n !mul0r.
rewrite -!/(below _ _ _) !belowS; have h1 := IH e.+1; have h2 := IH e.
have h3 : below m e p' <= below m e.+1 p'.
  by rewrite /below big_ord_recr /= ler_addl pmf_ge0 // p1 (le_trans p0 pp).
have q0 : 0 <= 1 - p by rewrite subr_ge0 (le_trans pp).
have d0 : 0 <= p' - p by rewrite subr_ge0.
have g1 := ler_wpmul2l q0 h1; have g2 := ler_wpmul2l p0 h2; have g3 := ler_wpmul2l d0 h3.
by move: (below m e p) (below m e p') (below m e.+1 p) (below m e.+1 p') g1 g2 g3 => a b c d g1 g2 g3; linear (ler_add (ler_add g1 g2) g3).
Qed.
Lemma cdf_falls m e p p' : 0 <= p -> p <= p' -> p' <= 1 -> cdf m e p' <= cdf m e p.
Proof. exact: below_falls. Qed.
Lemma cdf_half_gt0 m e : 0 < cdf m e (2%:R^-1 : R).
Proof.
have h0 : 0 < 2%:R^-1 :> R by rewrite invr_gt0 ltr0n.
have h1 : 1 - 2%:R^-1 = 2%:R^-1 :> R by field.
rewrite /cdf big_ord_recl ltr_paddr //; last by rewrite /pmf /= bin0 expr0 !mul1r h1 exprn_gt0.
apply: sumr_ge0 => k _; apply: pmf_ge0; rewrite ltW //=; by rewrite invf_le1 ?ltr0n // ler1n.
Qed.
End Binomial.

(* the mean of a function of a count *)
Lemma Ex_errors (R : realType) (I : finType) (w : I -> R) (wrong : I -> bool) m (g : nat -> R) : \sum_i w i = 1 ->
  Ex w (fun S : {ffun 'I_m -> I} => g (errors wrong S)) = \sum_(c < m.+1) pmf m c (error_rate w wrong) * g c.
Proof.
move=> w1; have le_m (S : {ffun 'I_m -> I}) : (errors wrong S <= m)%N.
  by rewrite /errors -[X in (_ <= X)%N](card_ord m) -sum1_card; apply: leq_sum => i _; exact: leq_b1.
rewrite (eq_Ex w (g := fun S => \sum_(c < m.+1) (errors wrong S == c)%:R * g c)) => [|S]; last first.
  rewrite (bigD1 (Ordinal (le_m S : errors wrong S < m.+1)%N)) //= eqxx mul1r big1 ?addr0 // => c.
  by rewrite -val_eqE /= eq_sym => /negbTE ->; rewrite mul0r.
rewrite /Ex; under eq_bigr do rewrite mulr_sumr; rewrite exchange_big; apply: eq_bigr => c _ /=.
by rewrite -(errors_law _ w1) /Ex mulr_suml; apply: eq_bigr => S _; rewrite mulrA.
Qed.

(* N votes, each right with its voter's probability: at most k are *)
Section Few.
Variables (R : realType) (V : finType) (right : V -> R) (N k : nat).
Hypothesis right01 : forall v, 0 <= right v <= 1.
Implicit Types (h : {ffun 'I_N -> V}) (b : {ffun 'I_N -> bool}).
Definition few h : R := \sum_(b : {ffun 'I_N -> bool}) (\prod_t (if b t then right (h t) else 1 - right (h t))) * ((\sum_t b t <= k)%N)%:R.
Lemma few01 h : 0 <= few h <= 1.
Proof.
have c0 v (c : bool) : 0 <= (if c then right v else 1 - right v) by have /andP[? ?] := right01 v; case: c; rewrite // subr_ge0.
rewrite sumr_ge0 => [|b _]; last by rewrite mulr_ge0 ?ler0n // prodr_ge0.
apply: (@le_trans _ _ (\sum_(b : {ffun 'I_N -> bool}) \prod_t (if b t then right (h t) else 1 - right (h t)))) => /=.
  by apply: ler_sum => b _; rewrite ler_pimulr ?prodr_ge0 // lern1 leq_b1.
rewrite -(bigA_distr_bigA (fun t (c : bool) => if c then right (h t) else 1 - right (h t))) big1 // => t _.
by rewrite big_bool /= addrC subrK.
Qed.
(* voters drawn from θ: the right votes are binomial *)
Lemma mean_few (theta : V -> R) : \sum_v theta v = 1 -> Ex theta few = cdf N k (\sum_v theta v * right v).
Proof.
move=> th1; pose w' (q : V * bool) := theta q.1 * (if q.2 then right q.1 else 1 - right q.1).
have sums (f : V * bool -> R) : \sum_q w' q * f q = \sum_v theta v * (right v * f (v, true) + (1 - right v) * f (v, false)).
  rewrite (eq_bigr (fun q => w' (q.1, q.2) * f (q.1, q.2))) => [|[v c] _ //].
  rewrite -(pair_bigA _ (fun v c => w' (v, c) * f (v, c))) /=; apply: eq_bigr => v _.
  by rewrite big_bool /w' /= -!mulrA -mulrDr.
have w1 : \sum_q w' q = 1.
  rewrite (eq_bigr (fun q => w' q * 1)) => [|q _]; last by rewrite mulr1.
  by rewrite sums -[RHS]th1; apply: eq_bigr => v _; rewrite !mulr1 addrC subrK mulr1.
have -> : \sum_v theta v * right v = error_rate w' (fun q => q.2).
  by rewrite /error_rate sums; apply: eq_bigr => v _; rewrite /= mulr1 mulr0 addr0.
rewrite -(errors_cdf _ w1); symmetry; apply: etrans; first exact: Ex_coins.
by apply: eq_Ex => h; apply: eq_bigr => b _; rewrite errors_pairs.
Qed.
End Few.

(* any prior P on the sequences of voters, one N and one k *)
Section OneSetting.
Variables (R : realType) (I V : finType) (w : I -> R) (vote : V -> I -> R) (m N k : nat) (P : {ffun 'I_N -> V} -> R) (delta : R).
Hypotheses (w0 : forall i, 0 <= w i) (w1 : \sum_i w i = 1) (m0 : (0 < m)%N) (vote1 : forall v a, `|vote v a| <= 1).
Hypotheses (P0 : forall h, 0 < P h) (P1 : \sum_h P h = 1) (d0 : 0 < delta).
Implicit Types (S : {ffun 'I_m -> I}) (theta : V -> R).
(* y f(x)/B at an atom, and θ^N *)
Definition mean_vote theta (a : I) : R := \sum_v theta v * vote v a.
Definition power theta (h : {ffun 'I_N -> V}) : R := \prod_t theta (h t).
Let right a v : R := (1 + vote v a) / 2%:R.
Let two0 : 0 < 2%:R :> R. Proof. by rewrite ltr0n. Qed.
Let right01 a v : 0 <= right a v <= 1.
Proof.
have := vote1 v a; rewrite ler_norml => /andP[h1 h2]; rewrite divr_ge0 ?(ltW two0) //=; last by rewrite -ler_subl_addl sub0r.
by rewrite ler_pdivr_mulr // mul1r mulr2n ler_add2l.
Qed.
Let mean_right theta a : law theta -> \sum_v theta v * right a v = (1 + mean_vote theta a) / 2%:R.
Proof.
move=> [_ th1]; rewrite (eq_bigr (fun v => 2%:R^-1 * theta v + 2%:R^-1 * (theta v * vote v a))) => [|v _]; last by rewrite /right; ring.
by rewrite big_split /= -!mulr_sumr th1 -mulrDr mulrC.
Qed.
Lemma law_power theta : law theta -> law (power theta).
Proof.
move=> [th0 th1]; split=> [h|]; first by rewrite prodr_ge0.
have := @Ex_const R V theta th1 N 1; rewrite /Ex => e; rewrite -[RHS]e; apply: eq_bigr => h _; by rewrite mulr1.
Qed.
Lemma mean_vote_le theta a : law theta -> `|mean_vote theta a| <= 1.
Proof.
move=> [th0 th1]; apply: le_trans (ler_norm_sum _ _ _) _; rewrite -th1; apply: ler_sum => v _.
by rewrite normrM (ger0_norm (th0 v)) ler_pimulr.
Qed.

Theorem votes : Ex w (fun S => `[< exists theta, law theta /\
  kl_inverse (m%:R^-1 * \sum_i cdf N k ((1 + mean_vote theta (S i)) / 2%:R)) ((KL P (power theta) + ln (xi R m / delta)) / m%:R)
    / cdf N k 2%:R^-1 < \sum_a w a * ((mean_vote theta a <= 0)%R)%:R >]%:R) <= delta.
Proof.
pose loss (h : {ffun 'I_N -> V}) a := few (right a) k h.
have loss01 h a : 0 <= loss h a <= 1 by exact: few01.
apply: le_trans (derandomised w0 w1 m0 loss01 P0 P1 d0); apply: Ex_le => // S.
case: asboolP => [[theta [th lt]]|_]; last exact: ler0n.
have avg a : \sum_h power theta h * loss h a = cdf N k ((1 + mean_vote theta a) / 2%:R).
  by rewrite -mean_right // -mean_few //; case: th.
rewrite asboolT ?lexx //; exists (power theta), (cdf N k 2%:R^-1), (fun a => (mean_vote theta a <= 0)%R).
split; [exact: law_power | exact: cdf_half_gt0 | move=> a | move: lt].
  rewrite avg; have := mean_vote_le a th; rewrite ler_norml => /andP[h1 h2].
  have p0 : 0 <= (1 + mean_vote theta a) / 2%:R by rewrite divr_ge0 ?(ltW two0) // -ler_subl_addl sub0r.
  case: (leP (mean_vote theta a) 0) => [u0|_]; last first.
    rewrite mulr0; apply: sumr_ge0 => c _; apply: pmf_ge0; rewrite p0 ler_pdivr_mulr // mul1r.
    by rewrite [X in _ <= X]mulr2n ler_add2l.
  rewrite mulr1; apply: cdf_falls => //; last by rewrite invf_le1 ?ltr0n // ler1n.
  by rewrite ler_pdivr_mulr // mulVf ?gt_eqF // ger_addl.
have -> : mean_sample loss S (power theta) = m%:R^-1 * \sum_i cdf N k ((1 + mean_vote theta (S i)) / 2%:R).
  rewrite /mean_sample /sample_mean (eq_bigr (fun i => \sum_h power theta h * loss h (S i))) => [|i _]; last by rewrite avg.
  rewrite exchange_big mulr_sumr; apply: eq_bigr => h _; by rewrite mulrCA mulr_sumr.
by [].
Qed.
End OneSetting.

(* the two priors: voters drawn uniformly, or from a Polya urn with β balls of each *)
Section Priors.
Variables (R : realType) (V : finType).
Hypothesis V0 : (0 < #|V|)%N.
Implicit Types (theta : V -> R) (beta b : R) (N c : nat).
Definition iid N (h : {ffun 'I_N -> V}) : R := (#|V|%:R ^+ N)^-1.
Definition rising b c : R := \prod_(i < c) (b + i%:R).
Definition urn beta N (h : {ffun 'I_N -> V}) : R := (\prod_v rising beta (errors (fun x => x == v) h)) / rising (#|V|%:R * beta) N.
Let n0 : 0 < #|V|%:R :> R. Proof. by rewrite ltr0n. Qed.
Let Ex_all N (f : {ffun 'I_N -> V} -> R) : Ex (fun=> 1) f = \sum_h f h.
Proof. by apply: eq_bigr => h _; rewrite big1_eq mul1r. Qed.
Lemma rising_gt0 b c : 0 < b -> 0 < rising b c.
Proof. by move=> b0; apply: prodr_gt0 => i _; rewrite ltr_paddr ?ler0n. Qed.
Lemma risingS b c : rising b c.+1 = (b + c%:R) * rising b c.
Proof. by rewrite /rising big_ord_recr mulrC. Qed.
Lemma iid_gt0 N h : 0 < @iid N h. Proof. by rewrite invr_gt0 exprn_gt0. Qed.
Lemma iid_sum N : \sum_h @iid N h = 1.
Proof. by rewrite sumr_const card_ffun card_ord /iid -[_ *+ _]mulr_natl natrX mulfV // expf_neq0 // gt_eqF. Qed.
Lemma urn_gt0 beta N h : 0 < beta -> 0 < @urn beta N h.
Proof. by move=> b0; apply: divr_gt0; [apply: prodr_gt0 => v _; exact: rising_gt0 | rewrite rising_gt0 // mulr_gt0]. Qed.
Lemma urn_sum beta N : 0 < beta -> \sum_h @urn beta N h = 1.
Proof.
move=> b0; elim: N => [|N IH]; rewrite -Ex_all.
  have [v0 _|none] := pickP V; last by move: V0; rewrite eq_card0.
  rewrite (Ex0 _ _ [ffun=> v0]) /urn /rising big_ord0 divr1 big1 // => v _; by rewrite /errors big_ord0 big_ord0.
rewrite ExS -[RHS]IH (eq_bigr (fun v => \sum_(h : {ffun 'I_N -> V}) urn beta (prepend v h))) => [|v _]; last by rewrite Ex_all mul1r.
rewrite exchange_big; apply: eq_bigr => h _ /=.
have step v : urn beta (prepend v h) = (beta + (errors (fun x => x == v) h)%:R) * (urn beta h / (#|V|%:R * beta + N%:R)).
  rewrite /urn risingS (eq_bigr (fun v' => (if v' == v then beta + (errors (fun x => x == v) h)%:R else 1) * rising beta (errors (fun x => x == v') h))).
    by rewrite big_split /= -big_mkcond big_pred1_eq invfM -!mulrA; congr (_ * (_ * _)); rewrite mulrC.
  move=> v' _; rewrite errors_prepend eq_sym; have [->|_] := eqVneq v' v; last by rewrite mul1r.
  by rewrite add1n risingS.
rewrite (eq_bigr _ (fun v _ => step v)) -mulr_suml.
have -> : \sum_v (beta + (errors (fun x => x == v) h)%:R) = #|V|%:R * beta + N%:R.
  rewrite big_split /= sumr_const -[_ *+ _]mulr_natl -natr_sum; congr (_ + _%:R).
  rewrite /errors exchange_big /= (eq_bigr (fun=> 1%N)) => [|t _]; first by rewrite sum_nat_const card_ord muln1.
  by rewrite (bigD1 (h t)) //= eqxx big1 ?addn0 // => v /negbTE; rewrite eq_sym => ->.
by rewrite mulrC divfK // gt_eqF // ltr_paddr ?ler0n // mulr_gt0.
Qed.

(* KL_N *)
Definition vote_KL (n N : nat) beta theta : R :=
  if beta == 0 then N%:R * \sum_v theta v * ln (n%:R * theta v)
  else N%:R * (\sum_v theta v * ln (theta v)) + \sum_(i < N) ln (n%:R * beta + i%:R)
       - \sum_v \sum_(c < N.+1) pmf N c (theta v) * \sum_(i < c) ln (beta + i%:R).
Definition vote_prior beta N : {ffun 'I_N -> V} -> R := if beta == 0 then @iid N else @urn beta N.
Lemma vote_prior_gt0 beta N h : 0 <= beta -> 0 < @vote_prior beta N h.
Proof. by rewrite /vote_prior le_eqVlt eq_sym; case: eqP => [_ _|_ /= b0]; [exact: iid_gt0 | exact: urn_gt0]. Qed.
Lemma vote_prior_sum beta N : 0 <= beta -> \sum_h @vote_prior beta N h = 1.
Proof. by rewrite /vote_prior le_eqVlt eq_sym; case: eqP => [_ _|_ /= b0]; [exact: iid_sum | exact: urn_sum]. Qed.

Let Ex_sums N theta (T : finType) (F : T -> {ffun 'I_N -> V} -> R) : Ex theta (fun h => \sum_v F v h) = \sum_v Ex theta (F v).
Proof. by rewrite /Ex exchange_big; apply: eq_bigr => h _; rewrite mulr_sumr. Qed.
Let Ex_votes N theta (g : V -> R) : law theta -> Ex theta (fun h : {ffun 'I_N -> V} => \sum_t g (h t)) = N%:R * \sum_v theta v * g v.
Proof.
move=> [_ th1]; rewrite Ex_sums [LHS](eq_bigr (fun=> \sum_v theta v * g v)) => [|t _]; last exact: Ex_one.
by rewrite sumr_const card_ord -[_ *+ _]mulr_natl.
Qed.
(* each sequence that θ^N can draw has ln(θ^N(h)/P(h)) as said *)
Let KL_mean N theta (P : {ffun 'I_N -> V} -> R) (g : {ffun 'I_N -> V} -> R) :
  (forall h : {ffun 'I_N -> V}, (forall t, 0 < theta (h t)) -> ln (power theta h / P h) = g h) -> law theta -> KL P (power theta) = Ex theta g.
Proof.
move=> gE [th0 _]; apply: eq_bigr => h _; rewrite -/(power theta h); have [->|pn] := eqVneq (power theta h) 0; first by rewrite !mul0r.
by rewrite gE // => t; rewrite lt_def th0 andbT; move/prodf_neq0: pn; exact.
Qed.
Lemma KL_vote beta N theta : 0 <= beta -> law theta -> KL (@vote_prior beta N) (power theta) = vote_KL #|V| N beta theta.
Proof.
rewrite /vote_prior /vote_KL le_eqVlt eq_sym; case: eqP => [_ _|_ /= b0] th.
  rewrite (KL_mean (g := fun h => \sum_t ln (#|V|%:R * theta (h t)))) // => [|h pos].
    exact: (Ex_votes N (fun v => ln (#|V|%:R * theta v)) th).
  rewrite -ln_prod => [|t]; last by rewrite mulr_gt0.
  by rewrite big_split /= prodr_const card_ord /iid invrK mulrC.
have [_ th1] := th.
pose g (h : {ffun 'I_N -> V}) := \sum_t ln (theta (h t)) + (\sum_(i < N) ln (#|V|%:R * beta + i%:R) - \sum_v \sum_(i < errors (fun x => x == v) h) ln (beta + i%:R)).
rewrite (KL_mean (g := g)) // => [|h pos].
  rewrite /g Ex_add (Ex_votes N (fun v => ln (theta v)) th) -addrA; congr (_ + _); rewrite Ex_add Ex_const //; congr (_ + _).
  rewrite (eq_Ex theta (g := fun h => -1 * \sum_v \sum_(i < errors (fun x => x == v) h) ln (beta + i%:R))) => [|h]; last by rewrite mulN1r.
  rewrite Ex_scale mulN1r Ex_sums; congr (- _); apply: eq_bigr => v _ /=.
  have -> : theta v = error_rate theta (fun x => x == v).
    by rewrite /error_rate (bigD1 v) //= eqxx mulr1 big1 ?addr0 // => x /negbTE ->; rewrite mulr0.
  exact: (@Ex_errors R V theta (fun x => x == v) N (fun c => \sum_(i < c) ln (beta + i%:R)) th1).
have nb : 0 < #|V|%:R * beta by rewrite mulr_gt0.
rewrite ln_div ?posrE ?prodr_gt0 ?urn_gt0 // ln_prod // /g; congr (_ + _).
rewrite /urn ln_div ?posrE ?rising_gt0 ?prodr_gt0 // => [|v _]; last exact: rising_gt0.
rewrite opprB; congr (_ - _); first by rewrite /rising ln_prod // => i; rewrite ltr_paddr ?ler0n.
rewrite ln_prod => [|v]; last exact: rising_gt0.
by apply: eq_bigr => v _; rewrite /rising ln_prod // => i; rewrite ltr_paddr ?ler0n.
Qed.
End Priors.

Section Certificate.
Variables (R : realType) (X : Type) (n0 : nat) (Psi : X -> 'I_n0 -> R) (I : finType) (w : I -> R) (xs : I -> X) (ys : I -> bool) (m : nat).
Implicit Types (v : 'I_n0 -> R) (theta : 'I_n0 * bool -> R).
Definition linear_margin v (a : I) : R := (-1) ^+ ys a * \sum_j v j * Psi (xs a) j.
Definition linear_risk v : R := \sum_a w a * ((linear_margin v a <= 0)%R)%:R.
(* θ is spread over the signed features so that Σ_j (θ_{j,+} - θ_{j,-}) Ψ_j = f/B *)
Definition represents theta (B : R) v := [/\ 0 < B, law theta & forall j, v j = B * (theta (j, false) - theta (j, true))].

Theorem vote_certificate (K : eqType) (N k : K -> nat) (beta prior : K -> R) (delta : R) :
  (forall i, 0 <= w i) -> \sum_i w i = 1 -> (0 < m)%N -> (forall a j, `|Psi (xs a) j| <= 1) ->
  (forall s, 0 <= beta s) -> (forall s, 0 < prior s) -> (forall r, uniq r -> \sum_(s <- r) prior s <= 1) -> 0 < delta ->
  Ex w (fun S : {ffun 'I_m -> I} => `[< exists (s : K) v theta B, represents theta B v /\
    kl_inverse (m%:R^-1 * \sum_i cdf (N s) (k s) ((1 + linear_margin v (S i) / B) / 2%:R))
      ((vote_KL (n0 * 2) (N s) (beta s) theta + ln (xi R m / (delta * prior s))) / m%:R) / cdf (N s) (k s) 2%:R^-1 < linear_risk v >]%:R) <= delta.
Proof.
move=> w0 w1 m0 Psi1 b0 pr0 pr1 d0.
pose vote (q : 'I_n0 * bool) (a : I) : R := (-1) ^+ ys a * ((-1) ^+ q.2 * Psi (xs a) q.1).
have vote1 q a : `|vote q a| <= 1 by rewrite /vote !normrM !normrX normrN1 !expr1n !mul1r.
have mE theta B v a : represents theta B v -> linear_margin v a = B * mean_vote vote theta a.
  move=> [_ _ vE]; rewrite /linear_margin /mean_vote /vote.
  rewrite (eq_bigr (fun q => theta (q.1, q.2) * ((-1) ^+ ys a * ((-1) ^+ q.2 * Psi (xs a) q.1)))) => [|[j c] _ //].
  rewrite -(pair_bigA _ (fun j c => theta (j, c) * ((-1) ^+ ys a * ((-1) ^+ c * Psi (xs a) j)))) /= !mulr_sumr; apply: eq_bigr => j _.
  by rewrite big_bool vE /= expr0 expr1; move: ((-1) ^+ ys a) => y; ring.
apply: (union w0 w1 (ltW d0) pr1) => s.
have [V0|nV] := posnP #|[finType of 'I_n0 * bool]|.
  rewrite (eq_Ex w (g := fun=> 0)) ?Ex_const ?mulr_ge0 ?(ltW d0) ?(ltW (pr0 s)) // => S; case: asboolP => // -[v [theta [B [[_ [_ th1] _] _]]]].
  by move: th1; rewrite big_pred0 => [/eqP|q]; [rewrite eq_sym oner_eq0 | have := fintype0 q V0].
have dp : 0 < delta * prior s by rewrite mulr_gt0.
have all := @votes R I [finType of 'I_n0 * bool] w vote m (N s) (k s) (@vote_prior R _ (beta s) (N s)) (delta * prior s)
  w0 w1 m0 vote1 (fun h => vote_prior_gt0 nV h (b0 s)) (vote_prior_sum nV (N s) (b0 s)) dp.
apply: le_trans all.
apply: Ex_le => // S; case: asboolP => [[v [theta [B [rep lt]]]]|_]; last exact: ler0n.
have [B0 th _] := rep; rewrite asboolT ?lexx //; exists theta; split=> //.
rewrite KL_vote // card_prod card_ord card_bool.
rewrite (eq_bigr (fun i => cdf (N s) (k s) ((1 + linear_margin v (S i) / B) / 2%:R))) => [|i _]; last first.
  by rewrite (mE _ _ _ _ rep) mulrAC divff ?mul1r // gt_eqF.
apply: lt_le_trans lt _; rewrite le_eqVlt; apply/orP; left; apply/eqP; apply: eq_bigr => a _.
by rewrite (mE _ _ _ _ rep) pmulr_rle0.
Qed.

(* the grid: g values of N, N+1 of k, b of β, all alike: log(ξ(m)G/δ) with G = g b (N+1) *)
Theorem vote_certificate_grid (g b : nat) (N : 'I_g -> nat) (beta : 'I_b -> R) (delta : R) :
  (forall i, 0 <= w i) -> \sum_i w i = 1 -> (0 < m)%N -> (forall a j, `|Psi (xs a) j| <= 1) -> (forall j, 0 <= beta j) -> 0 < delta ->
  Ex w (fun S : {ffun 'I_m -> I} => `[< exists (i : 'I_g) (j : 'I_b) (k : nat) v theta B, [/\ (k <= N i)%N, represents theta B v &
    kl_inverse (m%:R^-1 * \sum_i' cdf (N i) k ((1 + linear_margin v (S i') / B) / 2%:R))
      ((vote_KL (n0 * 2) (N i) (beta j) theta + ln (xi R m * (g * b * (N i).+1)%:R / delta)) / m%:R) / cdf (N i) k 2%:R^-1 < linear_risk v] >]%:R) <= delta.
Proof.
move=> w0 w1 m0 Psi1 b0 d0; pose K := [finType of {i : 'I_g & 'I_(N i).+1} * 'I_b].
pose G (s : K) := (g * b * (N (tag s.1)).+1)%N; pose prior (s : K) : R := (G s)%:R^-1.
have G0 s : (0 < G s)%N.
  by rewrite !muln_gt0 /= andbT; case: s => -[[i ig] k] [j jb] /=; rewrite (leq_ltn_trans _ ig) // (leq_ltn_trans _ jb).
have pr0 s : 0 < prior s by rewrite invr_gt0 ltr0n.
have pr1 r : uniq r -> \sum_(s <- r) prior s <= 1.
  move=> ur; apply: le_trans (sum_subset (fun s => ltW (pr0 s)) ur (s := enum K) _) _; first by move=> s _; rewrite mem_enum.
  have [g0|gp] := posnP g; first by rewrite big_enum big_pred0 ?ler01 // => s; have := leq_trans (ltn_ord (tag s.1)) (eq_leq g0).
  have [bz|bp] := posnP b; first by rewrite big_enum big_pred0 ?ler01 // => s; have := leq_trans (ltn_ord s.2) (eq_leq bz).
  rewrite big_enum /= (eq_bigr (fun s => (fun q (j : 'I_b) => (g * b * (N (tag q)).+1)%:R^-1 : R) s.1 s.2)) //.
  rewrite -(pair_bigA _ (fun q (j : 'I_b) => (g * b * (N (tag q)).+1)%:R^-1 : R)) /=.
  rewrite -(sig_big_dep xpredT (fun=> xpredT) (fun i (k : 'I_(N i).+1) => \sum_(j < b) (g * b * (N i).+1)%:R^-1 : R)) /=.
  rewrite (eq_bigr (fun=> g%:R^-1)) => [|i _]; first by rewrite sumr_const card_ord -[_ *+ _]mulr_natl mulfV // pnatr_eq0 -lt0n.
  rewrite !sumr_const !card_ord -mulrnA -[_ *+ _]mulr_natl !natrM.
  have : (N i).+1%:R != 0 :> R by rewrite pnatr_eq0.
  have : b%:R != 0 :> R by rewrite pnatr_eq0 -lt0n.
  have : g%:R != 0 :> R by rewrite pnatr_eq0 -lt0n.
  by move: ((N i).+1%:R : R) (b%:R : R) (g%:R : R) => x y z hz hy hx; field; rewrite hx hy hz.
have all := @vote_certificate K (fun s => N (tag s.1)) (fun s => tagged s.1) (fun s => beta s.2) prior delta w0 w1 m0 Psi1 (fun s => b0 s.2) pr0 pr1 d0.
apply: le_trans all; apply: Ex_le => // S; case: asboolP => [[i [j [k [v [theta [B [kN rep lt]]]]]]]|_]; last exact: ler0n.
rewrite asboolT ?lexx //; exists (Tagged (fun i => 'I_(N i).+1) (Ordinal (kN : k < (N i).+1)%N), j), v, theta, B; split=> //.
by rewrite /prior /G /= [(delta * _)^-1]invfM invrK [delta^-1 * _]mulrC mulrA.
Qed.

(* every v != 0 has one: θ = |v|/||v||_1 *)
Theorem represented v : (exists j, v j != 0) -> represents (fun q => if (v q.1 < 0) == q.2 then `|v q.1| / \sum_j `|v j| else 0) (\sum_j `|v j|) v.
Proof.
move=> [j0 vj]; set B := \sum_j _; have B0 : 0 < B.
  by rewrite /B (bigD1 j0) //= ltr_paddr ?normr_gt0 // sumr_ge0.
split=> //=.
  split=> [q|]; first by case: ifP => // _; rewrite divr_ge0 // ltW.
  rewrite (eq_bigr (fun q => (fun j c => if (v j < 0) == c then `|v j| / B else 0) q.1 q.2)) // -(pair_bigA _ (fun j c => if (v j < 0) == c then `|v j| / B else 0)) /=.
  rewrite (eq_bigr (fun j => `|v j| / B)) => [|j _]; first by rewrite -mulr_suml divff // gt_eqF.
  by rewrite big_bool /=; case: (v j < 0); rewrite /= ?addr0 ?add0r.
move=> j; case: (ltP (v j) 0) => vj0 /=; first by rewrite sub0r mulrN mulrCA divff ?gt_eqF // mulr1 ltr0_norm ?opprK.
by rewrite subr0 mulrCA divff ?gt_eqF // mulr1 ger0_norm.
Qed.
End Certificate.
