(* exp: tangent line, convexity, Jensen; cosh x <= e^(x²/2); the moments of Σ_i σ_i a_i. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From mathcomp.classical Require Import boolp classical_sets functions mathcomp_extra.
From mathcomp.analysis Require Import reals signed topology normedtype sequences derive realfun exp.
From AdaNet Require Import signs suprema contraction.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Import numFieldNormedType.Exports.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.

Section Exp.
Variable R : realType.
Implicit Types x y d k : R.

Lemma expR_le1B d : 0 < d -> expR d * (1 - d) <= 1.
Proof.
move=> d0.
have [c] : exists2 c, c \in `]0, d[%R & expR d - expR 0 = expR c * (d - 0).
  apply: (@MVT R (@expR R) (@expR R)) => //.
  by apply: continuous_subspaceT => x; exact: continuous_expR.
rewrite in_itv /= => /andP[_ cd]; rewrite expR0 subr0 => e.
rewrite mulrBr mulr1 ler_subl_addr -ler_subl_addl e.
by rewrite ler_pmul2r // ler_expR ltW.
Qed.

Lemma expR_ge1D x : 1 + x <= expR x.
Proof.
have [x0|x0] := leP 0 x; first exact: expR_ge1Dx.
have := @expR_le1B (- x); rewrite oppr_gt0 opprK => /(_ x0).
by rewrite expRN mulrC ler_pdivr_mulr ?expR_gt0 // mul1r.
Qed.

Lemma expR_tangent x y : expR y * (1 + (x - y)) <= expR x.
Proof. by rewrite -{2}(subrK y x) expRD mulrC ler_pmul2r ?expR_gt0 // expR_ge1D. Qed.

Lemma expR_jensen (I : Type) (r : seq I) (w x : I -> R) : (forall i, 0 <= w i) -> \sum_(i <- r) w i = 1 ->
  expR (\sum_(i <- r) w i * x i) <= \sum_(i <- r) w i * expR (x i).
Proof.
move=> w0 w1; set z := \sum_(i <- r) w i * x i.
have : \sum_(i <- r) w i * (expR z * (1 + (x i - z))) <= \sum_(i <- r) w i * expR (x i).
  by apply: ler_sum => i _; rewrite ler_wpmul2l // expR_tangent.
apply: le_trans; rewrite le_eqVlt; apply/orP; left; apply/eqP.
rewrite (eq_bigr (fun i => expR z * (1 - z) * w i + expR z * (w i * x i))); last by move=> i _; ring.
by rewrite big_split /= -!mulr_sumr w1 -/z; ring.
Qed.

Lemma expR_convex2 (t x y : R) : 0 <= t <= 1 -> expR (t * x + (1 - t) * y) <= t * expR x + (1 - t) * expR y.
Proof.
move=> /andP[t0 t1].
have := @expR_jensen bool [:: true; false] (fun b => if b then t else 1 - t) (fun b => if b then x else y).
rewrite !big_cons !big_nil /= !addr0; apply; last by ring.
by case; rewrite ?subr_ge0.
Qed.

Lemma convex_expR (l : R) : convex (fun x => expR (l * x)).
Proof. by move=> t x y t01; rewrite mulrDr !(mulrCA l) expR_convex2. Qed.
Lemma nondecreasing_expR (l : R) : 0 <= l -> nondecreasing (fun x => expR (l * x)).
Proof. by move=> l0 x y xy; rewrite ler_expR ler_wpmul2l. Qed.

Lemma Jensen m (f : signs m -> R) : expR (E f) <= E (fun s => expR (f s)).
Proof.
have H := E_le (fun s => expR_tangent (f s) (E f)).
apply: le_trans H; rewrite E_scale E_add E_const.
rewrite (_ : E (fun s => f s - E f) = 0) ?addr0 ?mulr1 //.
by rewrite (E_add f (fun=> - E f)) E_const subrr.
Qed.

(* e^(l sup f) <= c if every e^(l f(t)) is *)
Lemma exp_Sup_le (T : Type) (A : set T) (l c : R) (f : T -> R) : 0 < l -> A !=set0 ->
  (forall t, A t -> expR (l * f t) <= c) -> expR (l * Sup A f) <= c.
Proof.
move=> l0 A0 h; have c0 : 0 < c by have [t At] := A0; exact: lt_le_trans (expR_gt0 _) (h t At).
rewrite -[c]lnK // ler_expR mulrC -ler_pdivl_mulr //; apply: Sup_le => // t At.
by rewrite ler_pdivl_mulr // mulrC -ler_expR lnK //; exact: h.
Qed.

Definition cosh x : R := (expR x + expR (- x)) / 2%:R.
Let two0 : (2%:R : R) != 0. Proof. by rewrite pnatr_eq0. Qed.

Lemma coshN x : cosh (- x) = cosh x. Proof. by rewrite /cosh opprK addrC. Qed.
Lemma cosh_gt0 x : 0 < cosh x. Proof. by rewrite divr_gt0 ?ltr0n // addr_gt0 // expR_gt0. Qed.

(* doubling: cosh 2y = 2 cosh² y - 1 <= e^(4ky²) if cosh y <= e^(ky²), since 2c² - 1 <= c⁴ *)
Lemma cosh_half x : cosh x = 2%:R * cosh (x / 2%:R) ^+ 2 - 1.
Proof.
rewrite /cosh; set y := x / 2%:R.
have -> : x = y + y by rewrite /y; field.
have e1 := expRxMexpNx_1 y; rewrite opprD !expRD; move: (expR y) (expR (- y)) e1 => a b e1.
rewrite (_ : 2%:R * _ ^+ 2 - 1 = (a * a + b * b) / 2%:R + (a * b - 1)); last by field.
by rewrite e1 subrr addr0.
Qed.
Lemma cosh_double x k : cosh (x / 2%:R) <= expR (k * (x / 2%:R) ^+ 2) -> cosh x <= expR (k * x ^+ 2).
Proof.
move=> h; rewrite cosh_half.
set c := cosh _ in h *; set e := expR _ in h.
have -> : expR (k * x ^+ 2) = e ^+ 4 by rewrite /e -expRMm; congr expR; field.
have c0 : 0 <= c by rewrite ltW // cosh_gt0.
have h2 : c ^+ 2 <= e ^+ 2 by rewrite ler_expn2r // ?nnegrE // (le_trans c0).
by linear (ler_add (ler_add h2 h2) (sqr_ge0 (e ^+ 2 - 1))).
Qed.
(* near 0 the constant is as near to 1/2 as one likes *)
Lemma cosh_small x : cosh x <= expR (expR `|x| / 2%:R * x ^+ 2).
Proof.
wlog x0 : x / 0 <= x.
  move=> W; have [/W//|/ltW x0] := leP 0 x.
  by rewrite -coshN -normrN -sqrrN; apply: W; rewrite oppr_ge0.
rewrite ger0_norm //; apply: le_trans (expR_ge1D _).
move: x0; rewrite le_eqVlt => /predU1P[<-|x0].
  by rewrite /cosh oppr0 expR0 expr0n mulr0 addr0 -mulr2n divff.
have h := expR_le1B x0; have e1 := expRxMexpNx_1 x; have p := expR_gt0 x; have q := expR_gt0 (- x).
have g1 : 1 <= expR x by rewrite -(expR0 R) ler_expR ltW.
rewrite /cosh; move: (expR x) (expR (- x)) e1 p q h g1 => a b e1 p q h g1.
have h1 : a - 1 <= x * a by linear h.
have h2 : (a - 1) ^+ 2 <= (x * a) ^+ 2.
  by rewrite ler_expn2r // ?nnegrE ?subr_ge0 // mulr_ge0 // ltW.
have h3 : b / 2%:R * (a - 1) ^+ 2 <= b / 2%:R * (x * a) ^+ 2.
  by rewrite ler_wpmul2l // divr_ge0 ?ler0n // ltW.
have E1 : b / 2%:R * (a - 1) ^+ 2 = (a + b) / 2%:R - 1 + (a * b - 1) * (a / 2%:R - 1) by field.
have E2 : b / 2%:R * (x * a) ^+ 2 = a / 2%:R * x ^+ 2 + (a * b - 1) * (a * x ^+ 2 / 2%:R) by field.
by move: h3; rewrite E1 E2 e1 subrr !mul0r !addr0 ler_subl_addl.
Qed.
Lemma cosh_iter N x : cosh x <= expR (expR (`|x| / 2%:R ^+ N) / 2%:R * x ^+ 2).
Proof.
have gen M y k : cosh (y / 2%:R ^+ M) <= expR (k * (y / 2%:R ^+ M) ^+ 2) -> cosh y <= expR (k * y ^+ 2).
  elim: M y => [|M IH] y; first by rewrite expr0 divr1.
  by rewrite exprS invfM mulrA => /IH/cosh_double.
apply: (gen N); apply: le_trans (cosh_small _) _.
by rewrite normrM normfV [`|2%:R ^+ N|]ger0_norm ?exprn_ge0 ?ler0n.
Qed.
Theorem cosh_le x : cosh x <= expR (x ^+ 2 / 2%:R).
Proof.
rewrite leNgt; apply/negP => lt.
have x0 : x != 0.
  by apply: contraTneq lt => ->; rewrite /cosh oppr0 expR0 expr0n mul0r expR0 -mulr2n divff ?ltxx.
have s0 : 0 < x ^+ 2 / 2%:R by rewrite divr_gt0 ?ltr0n // exprn_even_gt0.
have nx : 0 < `|x| by rewrite normr_gt0.
rewrite -[cosh x](lnK (cosh_gt0 x)) ltr_expR in lt.
set r := ln (cosh x) / (x ^+ 2 / 2%:R).
have r1 : 1 < r by rewrite ltr_pdivl_mulr // mul1r.
have lr : 0 < ln r by exact: ln_gt0.
pose N := Num.bound (`|x| / ln r).
have hN : `|x| / 2%:R ^+ N < ln r.
  rewrite ltr_pdivr_mulr ?exprn_gt0 ?ltr0n // mulrC -ltr_pdivr_mulr //.
  apply: lt_trans (archi_boundP _) _; first by rewrite divr_ge0 // ltW.
  by rewrite -natrX ltr_nat ltn_expl.
have := cosh_iter N x; rewrite -[cosh x](lnK (cosh_gt0 x)) ler_expR.
rewrite -mulrA [2%:R^-1 * _]mulrC -ler_pdivr_mulr // -/r leNgt => /negP; apply.
by rewrite -[Y in _ < Y](lnK (lt_trans ltr01 r1)) ltr_expR.
Qed.

Variable m : nat.
Lemma mgf_signs (a : 'I_m -> R) : E (fun s => expR (dot s a)) = \prod_i cosh (a i).
Proof.
rewrite /E /dot.
have -> : \sum_(s : signs m) expR (\sum_i sg R s i * a i) = \prod_(i < m) \sum_(b : bool) expR ((-1) ^+ b * a i).
  rewrite bigA_distr_bigA /=; apply: eq_bigr => s _.
  by rewrite (big_morph expR (@expRD R) (expR0 R)).
rewrite [RHS](eq_bigr (fun i => (\sum_(b : bool) expR ((-1) ^+ b * a i)) * 2%:R^-1)); last first.
  by move=> i _; rewrite big_bool /= expr0 expr1 mulN1r mul1r addrC.
by rewrite big_split /= prodr_const card_ord natrX exprVn.
Qed.
Lemma mgf_signs_le (a : 'I_m -> R) : E (fun s => expR (dot s a)) <= expR ((\sum_i a i ^+ 2) / 2%:R).
Proof.
rewrite mgf_signs mulr_suml (big_morph expR (@expRD R) (expR0 R)).
by apply: ler_prod => i _; rewrite ltW ?cosh_gt0 //= cosh_le.
Qed.
Lemma mgf_abs_le (t : R) (a : 'I_m -> R) :
  E (fun s => expR (t * `|dot s a|)) <= 2%:R * expR (t ^+ 2 * (\sum_i a i ^+ 2) / 2%:R).
Proof.
have one (t1 : R) : t1 ^+ 2 = t ^+ 2 -> E (fun s => expR (t1 * dot s a)) <= expR (t ^+ 2 * (\sum_i a i ^+ 2) / 2%:R).
  move=> t2; rewrite (eq_E (g := fun s => expR (dot s (fun i => t1 * a i)))); last by move=> s; rewrite dotZ.
  apply: le_trans (mgf_signs_le _) _; rewrite (eq_bigr (fun i => t ^+ 2 * a i ^+ 2)) -?mulr_sumr //.
  by move=> i _; rewrite exprMn t2.
apply: (@le_trans _ _ (E (fun s => expR (t * dot s a) + expR (- t * dot s a)))).
  apply: E_le => s; have [d0|d0] := leP 0 (dot s a).
    by rewrite ger0_norm // ler_addl ltW // expR_gt0.
  by rewrite ltr0_norm // mulrN -mulNr ler_addr ltW // expR_gt0.
rewrite E_add mulr_natl mulr2n; apply: ler_add; apply: one; by rewrite ?sqrrN.
Qed.
End Exp.
