(* deepboost-restated: the DeepBoost bound with no condition on the range of h is false. 2a blocks of 2a points, a >= 20, the families
   {h_{j,v}} of one function each, h_{j,v} = M v on block j and 0 elsewhere, v any signs: R_m = 0, and f = (1/2a) Σ_j h_{j,v_j} is right on the
   sample, of m = 2a² points, and wrong off it, with margin M/2a > ρ. So R(f) >= 1/2 on every sample; the bound is below. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import zify.
From mathcomp.algebra_tactics Require Import ring.
From mathcomp.classical Require Import boolp classical_sets mathcomp_extra.
From mathcomp.analysis Require Import reals sequences exp.
From AdaNet Require Import signs suprema exponential families distributions symmetrisation.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.

(* C(ρ, l, m, δ) *)
Definition C (R : realType) (rho : R) (l m : nat) (delta : R) : R :=
  Num.sqrt ((ceil (4%:R / rho ^+ 2 * ln (rho ^+ 2 * m%:R / ln l%:R)))%:~R * ln l%:R / m%:R + ln (2%:R / delta) / (2%:R * m%:R)).

(* the bound as restated: l = #|K| families on the atoms, labels y, f = Σ_t α_t h_t in their hull *)
Definition deepboost (R : realType) : Prop :=
  forall (I : finType) (w : I -> R) (y : I -> bool) (K : finType) (G : K -> set (I -> R)) (m : nat) (rho delta : R),
  (forall i, 0 <= w i) -> \sum_i w i = 1 -> (1 < #|K|)%N -> (0 < m)%N -> 0 < rho -> 0 < delta < 1 ->
  Ex w (fun S : {ffun 'I_m -> I} => `[< exists (T : finType) (al : T -> R) (k : T -> K) (h : T -> I -> R),
    [/\ forall t, 0 <= al t, \sum_t al t = 1, forall t, G (k t) (h t) &
      m%:R^-1 * (\sum_i (((-1) ^+ y (S i) * (\sum_t al t * h t (S i)) <= rho)%R)%:R)
      + 4%:R / rho * (\sum_t al t * Ex w (fun S' : {ffun 'I_m -> I} => Rad (fun i => S' i) (G (k t))))
      + 2%:R / rho * Num.sqrt (ln #|K|%:R / m%:R) + C rho #|K| m delta
      < \sum_a w a * (((-1) ^+ y a * (\sum_t al t * h t a) <= 0)%R)%:R] >]%:R) <= delta.

Lemma ln_le (R : realType) (y : R) : 0 < y -> ln y <= y - 1.
Proof. by move=> y0; have := expR_ge1D (ln y); rewrite lnK // ler_subr_addl. Qed.

Section Example.
Variables (R : realType) (a : nat).
Hypothesis a20 : (20 <= a)%N.
Let b := a.*2.
Let m := (b * a)%N.
Let I := [finType of 'I_b * 'I_b].
Let K := [finType of 'I_b * {ffun 'I_b -> bool}].
Let rho : R := 2%:R * m%:R.
Let M : R := b%:R * (rho + 1).
Let w (_ : I) : R := (b * b)%:R^-1.
Definition h (k : K) (x : I) : R := if x.1 == k.1 then (if k.2 x.2 then M else - M) else 0.
Let G (k : K) : set (I -> R) := [set h k].
Let b0 : (0 < b)%N. Proof. by rewrite /b; lia. Qed.
Let m0 : (0 < m)%N. Proof. by rewrite muln_gt0 b0; lia. Qed.
Let bR : 0 < (b%:R : R). Proof. by rewrite ltr0n. Qed.
Let mR : 0 < (m%:R : R). Proof. by rewrite ltr0n. Qed.
Let rho0 : 0 < rho. Proof. by rewrite mulr_gt0 ?ltr0n. Qed.
Let card_K : #|K| = (b * 2 ^ b)%N. Proof. by rewrite card_prod card_ord card_ffun card_ord card_bool. Qed.

Lemma w_sum : \sum_i w i = 1.
Proof. by rewrite sumr_const card_prod !card_ord -[_ *+ _]mulr_natl mulfV // pnatr_eq0 -lt0n muln_gt0 b0. Qed.
Lemma Rad_one (S : {ffun 'I_m -> I}) k : Rad (fun i => S i) (G k) = 0.
Proof.
rewrite /Rad (eq_E (g := fun s => dot s (at_sample (fun i => S i) (h k)))) => [|s]; last first.
  rewrite /Sup (_ : [set _ | _ in _] = [set dot s (at_sample (fun i => S i) (h k))]) ?sup1 //.
  by apply/seteqP; split=> [_ [g -> <-]//|_ ->]; exists (h k).
set f := fun s => _; have : E f = - E f.
  by rewrite -{1}(E_opp f) (eq_E (g := fun s => -1 * f s)) ?E_scale ?mulN1r // => s; rewrite /f dot_opp mulN1r.
by move/eqP; rewrite -subr_eq0 opprK -mulr2n mulrn_eq0 => /eqP->; rewrite mulr0.
Qed.

(* the numbers: log l/m <= 1/10, the ceiling is at most 1, C <= 3/8 *)
Let L : R := ln #|K|%:R.
Lemma L_le : 1 <= L <= 4%:R * a%:R.
Proof.
have a0 : 0 < (a%:R : R) by rewrite ltr0n (leq_trans _ a20).
have two0 : 0 < 2%:R :> R by rewrite ltr0n.
have LE : L = ln b%:R + b%:R * ln 2%:R.
  by rewrite /L card_K natrM lnM ?posrE ?ltr0n ?expn_gt0 // natrX lnX // -[ln 2%:R *+ b]mulr_natl.
have l2 : 2%:R^-1 <= ln 2%:R :> R.
  have := ln_le (_ : 0 < 2%:R^-1 :> R); rewrite invr_gt0 => /(_ two0); rewrite lnV // => h'.
  by move: (ln 2%:R) h' => v h'; apply: (le_by h'); field.
have l2' : ln 2%:R <= 1 :> R by have := ln_le two0; rewrite (_ : 2%:R - 1 = 1 :> R) //; ring.
have lb : 0 <= ln (b%:R : R) by rewrite ln_ge0 // ler1n.
have bE : b%:R = 2%:R * a%:R :> R by rewrite /b -mul2n natrM.
have lb' := ln_le bR; have a1 : 1 <= a%:R :> R by rewrite ler1n (leq_trans _ a20).
rewrite LE; apply/andP; split.
  apply: (@le_trans _ _ (0 + b%:R * 2%:R^-1)); last by rewrite ler_add // ler_pmul2l.
  by rewrite add0r bE mulrAC divff ?mul1r // gt_eqF.
have h1 := ler_wpmul2l (ltW bR) l2'; rewrite mulr1 in h1.
have h2 : ln b%:R <= b%:R :> R by apply: le_trans lb' _; rewrite ler_subl_addr ler_addl ler01.
by apply: le_trans (ler_add h2 h1) _; rewrite bE; move: (a%:R : R) => c; rewrite le_eqVlt; apply/orP; left; apply/eqP; ring.
Qed.
Let mE : m%:R = 2%:R * a%:R ^+ 2 :> R. Proof. by rewrite /m /b -mul2n !natrM; ring. Qed.
Let aR : 20%:R <= a%:R :> R. Proof. by rewrite ler_nat. Qed.
Let m800 : 800%:R <= m%:R :> R.
Proof. by rewrite ler_nat /m /b -mul2n -mulnA (leq_trans (_ : 800 <= 2 * (20 * 20))%N) // leq_mul2l leq_mul. Qed.
Lemma L_over_m : L / m%:R <= 10%:R^-1.
Proof.
have /andP[_ h1] := L_le; rewrite ler_pdivr_mulr // mE; apply: le_trans h1 _.
have a0 : 0 <= a%:R :> R by rewrite ler0n.
have := ler_wpmul2l (_ : 0 <= a%:R / 5%:R :> R) aR; rewrite divr_ge0 ?ler0n // => /(_ isT).
by move/le_by; apply; field.
Qed.
Lemma one_ceiling : (ceil (4%:R / rho ^+ 2 * ln (rho ^+ 2 * m%:R / L)))%:~R <= 1 :> R.
Proof.
have /andP[L1 _] := L_le; have L0 := lt_le_trans ltr01 L1.
rewrite -[X in _ <= X]/(1%:~R) ler_int -ceil_ge_int.
have x0 : 0 < rho ^+ 2 * m%:R by rewrite mulr_gt0 ?exprn_gt0.
apply: (@le_trans _ _ (4%:R / rho ^+ 2 * (2%:R * rho + m%:R))).
  rewrite ler_wpmul2l ?divr_ge0 ?ler0n ?sqr_ge0 //; apply: (@le_trans _ _ (ln (rho ^+ 2 * m%:R))).
    by rewrite ler_ln ?posrE ?divr_gt0 // ler_pdivr_mulr // ler_pemulr // ltW.
  rewrite lnM ?posrE ?exprn_gt0 // lnX // -[_ *+ 2]mulr_natl ler_add // ?ler_wpmul2l ?ler0n //; exact: ltW (ln_sublinear _).
rewrite mulrAC ler_pdivr_mulr ?exprn_gt0 // mul1r /rho.
have := ler_wpmul2l (ltW mR) m800; move: (m%:R : R) mR m800 => c c0 c8 h1.
have h2 : 0 <= 780%:R * c by rewrite mulr_ge0 ?ler0n // ltW.
have := ler_add h1 h2; have := ler_wpmul2l (_ : 0 <= 4%:R :> R) h1; rewrite ler0n => /(_ isT) h3 _.
have h4 : 0 <= 3180%:R * c by rewrite mulr_ge0 ?ler0n // ltW.
by apply: (le_by (ler_add h3 h4)); ring.
Qed.
Lemma bound_small : 2%:R / rho * Num.sqrt (L / m%:R) + C rho #|K| m 20%:R^-1 < 2%:R^-1.
Proof.
have /andP[L1 _] := L_le; have Lm := L_over_m.
have h1 : 2%:R / rho * Num.sqrt (L / m%:R) <= 20%:R^-1.
  have s1 : Num.sqrt (L / m%:R) <= 1 by rewrite -[X in _ <= X]sqrtr1 ler_wsqrtr // (le_trans Lm) // invf_le1 ?ltr0n // ler1n.
  apply: (@le_trans _ _ (2%:R / rho * 1)); first by rewrite ler_wpmul2l // divr_ge0 ?ler0n // ltW.
  rewrite mulr1 ler_pdivr_mulr // /rho; have m20 : 20%:R <= m%:R :> R by rewrite (le_trans _ m800) // ler_nat.
  by have := ler_wpmul2l (_ : 0 <= 10%:R^-1 :> R) m20; rewrite invr_ge0 ler0n => /(_ isT)/le_by; apply; field.
have h2 : C rho #|K| m 20%:R^-1 <= 3%:R / 8%:R.
  have q0 : 0 <= 3%:R / 8%:R :> R by rewrite divr_ge0 ?ler0n.
  rewrite /C -/L -[X in _ <= X](ger0_norm q0) -sqrtr_sqr ler_wsqrtr //.
  have t1 : (ceil (4%:R / rho ^+ 2 * ln (rho ^+ 2 * m%:R / L)))%:~R * L / m%:R <= 10%:R^-1.
    apply: le_trans Lm; rewrite -mulrA -[X in _ <= X]mul1r ler_wpmul2r ?one_ceiling //.
    by rewrite divr_ge0 ?ler0n // (le_trans ler01).
  have t2 : ln (2%:R / 20%:R^-1) / (2%:R * m%:R) <= 40%:R^-1 :> R.
    have -> : 2%:R / 20%:R^-1 = 40%:R :> R by field.
        have l40 : ln 40%:R <= 40%:R :> R by apply: ltW; apply: ln_sublinear; rewrite ltr0n.
    rewrite ler_pdivr_mulr ?mulr_gt0 ?ltr0n //; apply: le_trans l40 _.
    by have := ler_wpmul2l (_ : 0 <= 20%:R^-1 :> R) m800; rewrite invr_ge0 ler0n => /(_ isT)/le_by; apply; field.
  apply: le_trans (ler_add t1 t2) _; rewrite -subr_ge0 (_ : _ - _ = 64%:R^-1); first by rewrite invr_ge0 ler0n.
  by field.
apply: le_lt_trans (ler_add h1 h2) _; rewrite -subr_gt0 (_ : _ - _ = 3%:R / 40%:R); first by rewrite divr_gt0 ?ltr0n.
by field.
Qed.

(* on every sample *)
Lemma always (S : {ffun 'I_m -> I}) : exists (T : finType) (al : T -> R) (k : T -> K) (g : T -> I -> R),
  [/\ forall t, 0 <= al t, \sum_t al t = 1, forall t, G (k t) (g t) &
    m%:R^-1 * (\sum_i (((-1) ^+ false * (\sum_t al t * g t (S i)) <= rho)%R)%:R)
    + 4%:R / rho * (\sum_t al t * Ex w (fun S' : {ffun 'I_m -> I} => Rad (fun i => S' i) (G (k t))))
    + 2%:R / rho * Num.sqrt (ln #|K|%:R / m%:R) + C rho #|K| m 20%:R^-1
    < \sum_x w x * (((-1) ^+ false * (\sum_t al t * g t x) <= 0)%R)%:R].
Proof.
pose seen (x : I) := [exists i, S i == x].
pose k (j : 'I_b) : K := (j, [ffun i => seen (j, i)]).
exists [finType of 'I_b], (fun=> b%:R^-1), k, (fun j => h (k j)); split=> //.
- by move=> j; rewrite invr_ge0 ler0n.
- by rewrite sumr_const card_ord -[_ *+ _]mulr_natl mulfV // gt_eqF.
have vE x : (-1) ^+ false * (\sum_j b%:R^-1 * h (k j) x) = if seen x then rho + 1 else - (rho + 1).
  rewrite expr0 mul1r (bigD1 x.1) //= big1 ?addr0 => [|j jx]; last by rewrite /h /= eq_sym (negbTE jx) mulr0.
  rewrite /h /= eqxx ffunE -surjective_pairing /M.
  by case: (seen x); rewrite ?mulrN mulrA mulVf ?mul1r // gt_eqF.
rewrite [X in m%:R^-1 * X]big1 => [|i _]; last first.
  have -> : (-1) ^+ false * (\sum_j b%:R^-1 * h (k j) (S i)) = rho + 1.
    by rewrite vE (_ : seen (S i)) //; apply/existsP; exists i.
  by rewrite ger_addl ler10.
rewrite [X in 4%:R / rho * X]big1 => [|j _]; last first.
  by rewrite (eq_Ex w (g := fun=> 0)) ?(Ex_const w_sum) ?mulr0 // => S'; exact: Rad_one.
rewrite !mulr0 !add0r; apply: lt_le_trans bound_small _.
have -> : \sum_x w x * (((-1) ^+ false * (\sum_j b%:R^-1 * h (k j) x) <= 0)%R)%:R = (b * b)%:R^-1 * #|[pred x | ~~ seen x]|%:R.
  rewrite -sum1_card natr_sum mulr_sumr [RHS]big_mkcond; apply: eq_bigr => x _; rewrite vE inE /w.
  case: (seen x) => /=; last by rewrite oppr_le0 addr_ge0 ?ler01 ?(ltW rho0).
  by rewrite leNgt addr_gt0 ?ltr01 //= mulr0.
have card_seen : (#|[pred x | seen x]| <= m)%N.
  apply: (@leq_trans #|[seq S i | i in 'I_m]|); last by apply: leq_trans (leq_image_card _ _) _; rewrite card_ord.
  by apply/subset_leq_card/fintype.subsetP => x /existsP[i /eqP <-]; exact: image_f.
have half : (b * b <= 2 * #|[pred x | ~~ seen x]|)%N.
  have e : (#|[pred x | seen x]| + #|[pred x | ~~ seen x]| = b * b)%N.
    rewrite (_ : (b * b)%N = #|I|); last by rewrite card_prod card_ord.
    by rewrite -(cardC [pred x | seen x]); congr addn; apply: eq_card.
  move: card_seen e; rewrite /m /b; move: #|_| #|_| => u v; lia.
rewrite ler_pdivl_mull ?ltr0n ?muln_gt0 ?b0 // -ler_pdivl_mulr ?invr_gt0 ?ltr0n // invrK -natrM ler_nat mulnC //.
Qed.
End Example.

Theorem deepboost_restated_false (R : realType) : ~ deepboost R.
Proof.
move=> claim; pose a := 20%N; pose b := a.*2; pose m := (b * a)%N.
have w0 (i : 'I_b * 'I_b) : 0 <= (b * b)%:R^-1 :> R by rewrite invr_ge0 ler0n.
have ws : \sum_(i : 'I_b * 'I_b) (b * b)%:R^-1 = 1 :> R by exact: (w_sum R (leqnn 20)).
have card1 : (1 < #|[finType of 'I_b * {ffun 'I_b -> bool}]|)%N.
  by rewrite card_prod card_ord (leq_trans (_ : 1 < b * 1)%N) // leq_mul2l /= card_ffun card_ord card_bool expn_gt0.
have r0 : 0 < 2%:R * m%:R :> R by rewrite mulr_gt0 ?ltr0n.
have d01 : 0 < (20%:R^-1 : R) < 1 by rewrite invr_gt0 ltr0n /= invf_lt1 ?ltr0n // ltr1n.
have := claim _ _ (fun=> false) _ (fun k => [set h R k]) m _ _ w0 ws card1 isT r0 d01.
rewrite (eq_Ex _ (g := fun=> 1)) => [|S]; last by rewrite asboolT //; exact: (always R (leqnn 20) S).
by rewrite Ex_const // leNgt; case/andP: d01 => _ ->.
Qed.
