(* One class F of margins, one ρ, a distribution of finite support: with probability 1 - δ, for every f in F,
     R(f) <= ramp_ρ(f) + (2/ρ) R_S(F) + 2 sqrt(log(1/δ)/(2m)),   the complexity of the sample;
   and the union over countably many statements whose priors add up to at most 1. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From mathcomp.classical Require Import boolp classical_sets.
From mathcomp.analysis Require Import reals sequences exp.
From AdaNet Require Import signs suprema contraction exponential families distributions symmetrisation margin_bound.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.

Section Tail.
Variables (R : realType) (I : finType) (w : I -> R) (m : nat).
Hypotheses (w0 : forall i, 0 <= w i) (w1 : \sum_i w i = 1) (m0 : (0 < m)%N).
Let mR : 0 < (m%:R : R). Proof. by rewrite ltr0n. Qed.

(* differences c/m and mean at most 0: P[f >= c sqrt(log(1/δ)/(2m))] <= δ *)
Lemma tail (f : {ffun 'I_m -> I} -> R) (bad : {ffun 'I_m -> I} -> bool) (c delta : R) : 0 < c -> 0 < delta < 1 ->
  (forall (S S' : {ffun 'I_m -> I}) i, (forall j, j != i -> S j = S' j) -> f S - f S' <= c / m%:R) -> Ex w f <= 0 ->
  (forall S, bad S -> c * Num.sqrt (ln delta^-1 / (2%:R * m%:R)) <= f S) -> Ex w (fun S => (bad S)%:R) <= delta.
Proof.
move=> c0 /andP[d0 d1] dif mean hb; set e := Num.sqrt _ in hb.
have ld : 0 < ln delta^-1 by apply: ln_gt0; rewrite invf_gt1.
have e2 : e ^+ 2 = ln delta^-1 / (2%:R * m%:R) by rewrite sqr_sqrtr // divr_ge0 ?(ltW ld) // mulr_ge0 ?ler0n.
have e0 : 0 < e by rewrite sqrtr_gt0 divr_gt0 // mulr_gt0 ?ltr0n.
pose t := 4%:R * m%:R * e / c; have t0 : 0 < t by rewrite divr_gt0 // !mulr_gt0 ?ltr0n.
have ptw S : (bad S)%:R <= expR (t * (f S - c * e)).
  case: (boolP (bad S)) => [/hb h|_]; last by rewrite ltW // expR_gt0.
  by rewrite -[X in X <= _](expR0 R) ler_expR mulr_ge0 ?(ltW t0) // subr_ge0.
apply: le_trans (Ex_le w0 ptw) _.
rewrite (eq_Ex w (g := fun S => expR (- (t * (c * e))) * expR (t * f S))) => [|S]; last first.
  by rewrite -expRD; congr expR; ring.
rewrite Ex_scale; have h := bounded_differences w0 w1 t dif.
apply: le_trans (ler_wpmul2l (ltW (expR_gt0 _)) h) _; rewrite -expRD -[X in _ <= X](lnK d0) ler_expR.
have le1 := ler_wpmul2l (ltW t0) mean; rewrite mulr0 in le1; rewrite sumr_const card_ord -[_ *+ m]mulr_natl.
have v1 : t ^+ 2 * (m%:R * (c / m%:R) ^+ 2) / 8%:R = - ln delta.
  rewrite (_ : _ / 8%:R = 2%:R * m%:R * e ^+ 2); last first.
    by rewrite /t; move: (gt_eqF mR) (gt_eqF c0); move: (m%:R : R) => M hM hc; field; rewrite hM hc.
  by rewrite e2 lnV //; move: (gt_eqF mR); move: (m%:R : R) => M hM; field; rewrite hM.
have v2 : t * (c * e) = - (2%:R * ln delta).
  rewrite (_ : _ * (c * e) = 4%:R * m%:R * e ^+ 2); last by rewrite /t; move: (gt_eqF c0) => hc; field; rewrite hc.
  by rewrite e2 lnV //; move: (gt_eqF mR); move: (m%:R : R) => M hM; field; rewrite hM.
by rewrite v1 v2; move: (t * Ex w _) (ln delta) le1 => x u le1; linear le1.
Qed.

(* a union with priors: the sample space is finite, so finitely many statements are met *)
Lemma union (K : eqType) (prior : K -> R) (bad : K -> {ffun 'I_m -> I} -> Prop) (delta : R) : 0 <= delta ->
  (forall r : seq K, uniq r -> \sum_(k <- r) prior k <= 1) ->
  (forall k, Ex w (fun S => `[< bad k S >]%:R) <= delta * prior k) ->
  Ex w (fun S => `[< exists k, bad k S >]%:R) <= delta.
Proof.
move=> d0 prior1 each; have [[k0 _]|none] := pselect (exists k : K, True); last first.
  rewrite (eq_Ex w (g := fun=> 0)) ?Ex_const // => S; case: asboolP => // -[k _]; by case: none; exists k.
have /choice[c hc] (S : {ffun 'I_m -> I}) : exists k, (exists k, bad k S) -> bad k S.
  by have [[k bk]|nb] := pselect (exists k, bad k S); [exists k | exists k0].
pose r := undup [seq c S | S <- enum {: {ffun 'I_m -> I}}].
apply: (@le_trans _ _ (\sum_(k <- r) Ex w (fun S => `[< bad k S >]%:R))).
  rewrite /Ex exchange_big; apply: ler_sum => S _; rewrite -mulr_sumr ler_wpmul2l ?prodr_ge0 //.
  case: asboolP => [/hc b|_]; last by apply: sumr_ge0 => k _; exact: ler0n.
  rewrite (big_rem (c S)) /=; last by rewrite mem_undup map_f // mem_enum.
  by rewrite asboolT // ler_addl; apply: sumr_ge0 => k _; exact: ler0n.
apply: le_trans (ler_sum _ (fun k _ => each k)) _; rewrite -mulr_sumr ler_pimulr //.
by apply: prior1; exact: undup_uniq.
Qed.
End Tail.

(* R_S moves by at most M/m with one point if |g| <= M: average over its sign first *)
Section OnePoint.
Variables (R : realType) (m : nat) (T : Type) (A : set T).
Hypothesis A0 : A !=set0.
Lemma one_point (u v : T -> 'I_m -> R) (i : 'I_m) (M : R) : bounded_at A u -> bounded_at A v ->
  (forall t j, j != i -> u t j = v t j) -> (forall t, A t -> `|u t i| <= M) ->
  E (fun s : signs m => Sup A (fun t => dot s (u t))) <= E (fun s => Sup A (fun t => dot s (v t))) + M.
Proof.
move=> bu bv off uM; rewrite -(E_const m M) -E_add; apply: (@E_pair_le _ _ i) => s; apply: Sup_add_le => // t t' At At'.
have g0 : bounded_on A (fun=> 0 : R) by exists 0.
have linE (z : T -> 'I_m -> R) s1 t1 : dot s1 (z t1) = lin (fun=> 0) z s1 t1 by rewrite /lin add0r.
have B s1 := bounded_dot s1 bv; move: (Sup_ub (B s) At) (Sup_ub (B s) At') (Sup_ub (B (flip i s)) At) (Sup_ub (B (flip i s)) At').
rewrite !linE !lin_flip !(lin_rest _ _ s i) !(eq_rest _ _ off).
have h1 : sg R s i * u t i <= M by apply: le_trans (ler_norm _) _; rewrite normrM norm_sg mul1r uM.
have h2 : - (sg R s i * u t' i) <= M by apply: le_trans (ler_norm _) _; rewrite normrN normrM norm_sg mul1r uM.
move: (rest _ _ _ _ t) (rest _ _ _ _ t') (sg R s i * v t i) (sg R s i * v t' i) (Sup A _) (Sup A _) h1 h2 => x y a b P Q h1 h2 a1 a2 b1 b2.
move: (sg R s i * u t i) (sg R s i * u t' i) h1 h2 => p q h1 h2.
(* x <= (P + Q)/2: the mean of x + a and x - a *)
have hx : x <= (P + Q) / 2%:R by apply: (le_by (ler_wpmul2r (_ : 0 <= 2%:R^-1) (ler_add a1 b1))); [rewrite invr_ge0 ler0n | field].
have hy : y <= (P + Q) / 2%:R by apply: (le_by (ler_wpmul2r (_ : 0 <= 2%:R^-1) (ler_add a2 b2))); [rewrite invr_ge0 ler0n | field].
by apply: (le_by (ler_add (ler_add hx hy) (ler_add h1 h2))); field.
Qed.
End OnePoint.

Section Empirical.
Variables (R : realType) (I : finType) (w : I -> R) (m : nat) (F : set (I -> R)) (rho : R).
Hypotheses (w0 : forall i, 0 <= w i) (w1 : \sum_i w i = 1) (m0 : (0 < m)%N) (rho0 : 0 < rho).
Hypotheses (F0 : F !=set0) (bF : forall a, exists M, forall g, F g -> `|g a| <= M).
Let im : 0 <= (m%:R^-1 : R). Proof. by rewrite invr_ge0 ler0n. Qed.
Let psi (g : I -> R) (a : I) : R := ramp rho (g a).
Let psi01 g a : 0 <= psi g a <= 1. Proof. exact: ramp01. Qed.
Let psi_bounded (S : {ffun 'I_m -> I}) : bounded_at F (fun g i => psi g (S i)).
Proof. by move=> i; exists 1 => g _; have /andP[h1 h2] := psi01 g (S i); rewrite ger0_norm. Qed.
Local Notation dev := (deviation (m := m) w psi (fun=> 0)).
Let RS (S : {ffun 'I_m -> I}) : R := m%:R^-1 * E (fun s => Sup F (fun g => dot s (fun i => psi g (S i)))).

(* ψ - 1/2 lies in [-1/2, 1/2] and has the complexity of ψ *)
Lemma RS_differences (S S' : {ffun 'I_m -> I}) i : (forall j, j != i -> S j = S' j) -> RS S' - RS S <= m%:R^-1 / 2%:R.
Proof.
move=> SS; pose c (U : {ffun 'I_m -> I}) g (j : 'I_m) : R := psi g (U j) - 2%:R^-1.
have cE (U : {ffun 'I_m -> I}) : E (fun s => Sup F (fun g => dot s (fun j => psi g (U j)))) = E (fun s => Sup F (fun g => dot s (c U g))).
  pose h (s : signs m) : R := dot s (fun=> 2%:R^-1).
  have -> : E (fun s => Sup F (fun g => dot s (fun j => psi g (U j)))) = E (fun s => Sup F (fun g => dot s (c U g)) + h s).
    apply: eq_E => s; have B1 := bounded_dot s (psi_bounded U).
    have e g : dot s (fun j => psi g (U j)) = dot s (c U g) + h s by rewrite -dotD; apply: eq_dot => j; rewrite subrK.
    have B2 : bounded_on F (fun g => dot s (c U g)) by have [K hK] := B1; exists (K - h s) => g Fg; rewrite ler_subr_addr -e hK.
    apply/eqP; rewrite eq_le; apply/andP; split; last first.
      by rewrite -ler_subr_addr; apply: Sup_le => // g Fg; rewrite ler_subr_addr -e; exact: (Sup_ub B1).
    by apply: Sup_le => // g Fg; rewrite e ler_add2r; exact: (Sup_ub B2).
  rewrite E_add (_ : E h = 0) ?addr0 //; have : E h = - E h.
    by rewrite -{1}(E_opp h) (eq_E (g := fun s => -1 * h s)) ?E_scale ?mulN1r // => s; rewrite /h dot_opp mulN1r.
  by move/eqP; rewrite -subr_eq0 opprK -mulr2n mulrn_eq0 => /eqP.
have half (p : R) : 0 <= p <= 1 -> `|p - 2%:R^-1| <= 2%:R^-1.
  move=> /andP[h1 h2]; rewrite ler_norml; apply/andP; split; first by rewrite ler_subr_addl subrr.
  by rewrite ler_subl_addr (_ : 2%:R^-1 + 2%:R^-1 = 1) //; field.
have bc U : bounded_at F (c U) by move=> j; exists 2%:R^-1 => g _; exact: half.
rewrite /RS !cE -mulrBr ler_wpmul2l // ler_subl_addl; apply: (one_point F0 (bc S') (bc S) (i := i)).
  by move=> g j ji; rewrite /c SS.
by move=> g _; exact: half.
Qed.
Lemma dev_differences1 (S S' : {ffun 'I_m -> I}) i : (forall j, j != i -> S j = S' j) -> Sup F (dev S) - Sup F (dev S') <= m%:R^-1.
Proof.
move=> SS; rewrite ler_subl_addr; apply: Sup_le => // g Fg.
have B := bounded_deviation w0 w1 m0 psi01 (fun g (_ : F g) => lexx (0 : R)) S'.
have le1 := Sup_ub B Fg; apply: le_trans (ler_add (lexx _) le1); rewrite /deviation.
pose rest (V : {ffun 'I_m -> I}) := \sum_(j < m | j != i) psi g (V j).
have sE (V : {ffun 'I_m -> I}) : \sum_j psi g (V j) = psi g (V i) + rest V by rewrite (bigD1 i).
have rE : rest S = rest S' by apply: eq_bigr => j ji; rewrite SS.
rewrite !sE rE; have /andP[h1 _] := psi01 g (S i); have /andP[_ h2] := psi01 g (S' i).
have := im; clear sE rE; move: (rest S') (\sum_a _) (psi g (S i)) (psi g (S' i)) h1 h2.
move: (m%:R^-1) => c a b u v h1 h2 c0; have h3 := ler_wpmul2l c0 (ler_add h1 h2).
by linear h3.
Qed.
Lemma RS_le (S : {ffun 'I_m -> I}) : RS S <= rho^-1 * Rad (fun i => S i) F.
Proof.
have ir : 0 <= rho^-1 by rewrite invr_ge0 ltW.
have g0 : bounded_on F (fun=> 0 : R) by exists 0.
have bv : bounded_at F (fun g (i : 'I_m) => rho^-1 * g (S i)).
  by move=> i; have [M hM] := bF (S i); exists (rho^-1 * M) => g Fg; rewrite normrM (ger0_norm ir) ler_wpmul2l // hM.
have bv' : bounded_at F (fun g (i : 'I_m) => g (S i)) by move=> i; exact: bF.
rewrite /RS /Rad [X in _ <= X]mulrCA ler_wpmul2l // -E_scale.
apply: (@le_trans _ _ (E (fun s : signs m => Sup F (lin (fun=> 0) (fun g i => psi g (S i)) s)))).
  by apply: E_le => s; rewrite (eq_Sup (g := lin (fun=> 0) (fun g i => psi g (S i)) s)) // => g _; rewrite /lin add0r.
apply: le_trans (contraction_coordinates F0 g0 (psi_bounded S) bv _) _.
  by move=> j g g' _ _; rewrite -mulrBr normrM (ger0_norm ir); exact: (ramp_lip rho0).
apply: E_le => s; apply: Sup_le => // g Fg; rewrite /lin add0r dotZ ler_wpmul2l //.
by apply: (Sup_ub (f := fun g => dot s (at_sample (fun i => S i) g))) => //; apply: bounded_dot.
Qed.

Theorem empirical (delta : R) : 0 < delta < 1 ->
  Ex w (fun S : {ffun 'I_m -> I} => `[< exists g, F g /\
    m%:R^-1 * (\sum_i ramp rho (g (S i))) + 2%:R / rho * Rad (fun i => S i) F + 2%:R * Num.sqrt (ln delta^-1 / (2%:R * m%:R)) <
    \sum_a w a * ((g a <= 0)%R)%:R >]%:R) <= delta.
Proof.
move=> d01; pose T S := Sup F (dev S) - 2%:R * RS S.
apply: (tail w0 w1 m0 (f := T) (c := 2%:R)) => // [|S S' i SS||S].
- by rewrite ltr0n.
- have h1 := dev_differences1 SS; have h2 := RS_differences SS; rewrite /T.
  by apply: (le_by (ler_add h1 (ler_wpmul2l (ler0n R 2) h2))); field; rewrite pnatr_eq0 -lt0n.
- rewrite /T (eq_Ex w (g := fun S => Sup F (dev S) + -2%:R * RS S)) => [|S]; last by rewrite mulNr.
  rewrite Ex_add Ex_scale mulNr subr_le0.
  apply: le_trans (symmetrisation w0 w1 m0 F0 psi01 (fun g (_ : F g) => lexx (0 : R))) _; rewrite ler_wpmul2l ?ler0n //.
  apply: Ex_le => // S; rewrite /RS -E_scale; apply: E_le => s; apply: Sup_le => // g Fg.
  rewrite oppr0 add0r dotZ ler_wpmul2l //.
  by apply: (Sup_ub (f := fun g => dot s (fun i => psi g (S i)))) => //; apply: bounded_dot.
- move=> /asboolP[g [Fg lt]]; rewrite /T.
  have B := bounded_deviation w0 w1 m0 psi01 (fun g (_ : F g) => lexx (0 : R)) S.
  have h1 : \sum_a w a * psi g a - m%:R^-1 * (\sum_i psi g (S i)) <= Sup F (dev S).
    by have := Sup_ub B Fg; rewrite {1}/deviation mulr0 subr0.
  have h2 := RS_le S.
  have h3 : \sum_a w a * ((g a <= 0)%R)%:R <= \sum_a w a * psi g a by apply: ler_sum => a _; rewrite ler_wpmul2l // ramp_error.
  have := ltW lt; rewrite [2%:R / rho * _]mulrAC -mulrA [_ / rho]mulrC.
  move: (Sup F _) (RS S) (rho^-1 * Rad _ F) (Num.sqrt _) (\sum_a _) (\sum_a _) (\sum_a _) h1 h2 h3 => a b c e p q u h1 h2 h3 h4.
  by linear (ler_add (ler_add h1 h3) (ler_add h4 (ler_add h2 h2))).
Qed.
End Empirical.
