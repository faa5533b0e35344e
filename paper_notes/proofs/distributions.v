(* Distributions of finite support: the mean over m independent draws, Hoeffding's lemma, bounded differences. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From mathcomp.classical Require Import boolp classical_sets functions mathcomp_extra.
From mathcomp.analysis Require Import reals signed topology normedtype sequences derive realfun exp.
From AdaNet Require Import signs suprema exponential.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Import numFieldNormedType.Exports.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.

(* 1 - a + a e^t <= e^(at + t²/8): the logarithmic derivative is a logistic curve, whose slope is at most 1/4. One mean value each. *)
Section TwoPoints.
Variables (R : realType) (a : R).
Hypothesis a01 : 0 <= a <= 1.
Let a0 : 0 <= a. Proof. by case/andP: a01. Qed.
Let a1 : 0 <= 1 - a. Proof. by rewrite subr_ge0; case/andP: a01. Qed.
Definition mix (t : R) : R := 1 - a + a * expR t.
Definition tilt (t : R) : R := a * expR t / mix t.
Definition gap (t : R) : R := mix t * expR (- (a * t + t ^+ 2 / 8%:R)).

Lemma mix_gt0 t : 0 < mix t.
Proof.
have e0 := expR_gt0 t; rewrite /mix; have [->|az] := eqVneq a 0; first by rewrite subr0 mul0r addr0 ltr01.
by rewrite ltr_paddl // mulr_gt0 // lt_def az.
Qed.
Lemma derive_mix (t : R) : is_derive t 1 mix (a * expR t).
Proof.
rewrite /mix (_ : (fun _ => _) = cst (1 - a) + a \*: @expR R); last by apply/funext.
by apply: is_derive_eq; rewrite add0r.
Qed.
Lemma derive_tilt (t : R) : is_derive t 1 tilt (tilt t * (1 - tilt t)).
Proof.
have d1 := derive_mix t; have m0 : mix t != 0 by rewrite gt_eqF ?mix_gt0.
rewrite /tilt (_ : (fun _ => _) = (a \*: @expR R) * (fun t => (mix t)^-1)); last by apply/funext.
have d2 := is_deriveV m0 d1; apply: is_derive_eq.
by rewrite /= /GRing.scale /=; move: (mix t) (expR t) m0 => u v u0; field.
Qed.
Lemma derive_gap (t : R) : is_derive t 1 gap (gap t * (tilt t - a - t / 4%:R)).
Proof.
have d1 := derive_mix t; have m0 : mix t != 0 by rewrite gt_eqF ?mix_gt0.
pose q (t : R) : R := - (a * t + t ^+ 2 / 8%:R).
have d2 : is_derive t 1 q (- (a + t / 4%:R)).
  rewrite /q (_ : (fun _ => _) = - ((a \*: id) + ((8%:R^-1 : R) \*: (id ^+ 2)))); last first.
    by apply/funext => y /=; rewrite /GRing.scale /= [_ / 8%:R]mulrC.
  apply: is_derive_eq; rewrite /= /GRing.scale /= expr1 mulr1; congr (- (_ + _)).
  by rewrite -mulr_natr; field.
have d3 : is_derive t 1 (expR \o q) (expR (q t) * - (a + t / 4%:R)) by exact: is_derive1_comp.
rewrite /gap (_ : (fun _ => _) = mix * (expR \o q)); last by apply/funext.
apply: is_derive_eq; rewrite /= /GRing.scale /= /tilt -/(q t).
by move: (mix t) (expR t) (expR (q t)) m0 => u v w u0; field.
Qed.
Lemma continuous_derive (f df : R -> R) (x y : R) : (forall t : R, is_derive t 1 f (df t)) -> {within `[x, y], continuous f}.
Proof.
move=> d; apply: continuous_subspaceT => t; apply: differentiable_continuous; apply/derivable1_diffP.
by case: (d t).
Qed.

Lemma tilt0 : tilt 0 = a.
Proof. by rewrite /tilt /mix expR0 mulr1 subrK divr1. Qed.
Lemma slope_tilt t : 0 <= tilt t * (1 - tilt t) <= 4%:R^-1.
Proof.
have m0 := mix_gt0 t; have e0 := expR_gt0 t; apply/andP; split.
  rewrite mulr_ge0 //; first by rewrite divr_ge0 ?mulr_ge0 // ltW.
  by rewrite subr_ge0 ler_pdivr_mulr // mul1r ler_addr.
rewrite -subr_ge0 (_ : _ - _ = (2%:R^-1 - tilt t) ^+ 2) ?sqr_ge0 //.
by move: (tilt t) => u; field.
Qed.
Lemma tilt_le t : 0 <= t -> a <= tilt t <= a + t / 4%:R.
Proof.
rewrite le_eqVlt => /predU1P[<-|t0]; first by rewrite tilt0 mul0r addr0 lexx.
have [c _ e] := MVT t0 (fun x _ => derive_tilt x) (continuous_derive derive_tilt).
move: e; rewrite tilt0 subr0 => /eqP; rewrite subr_eq => /eqP ->.
have /andP[s0 s1] := slope_tilt c; apply/andP; split; first by rewrite ler_addr mulr_ge0 ?(ltW t0).
by rewrite addrC ler_add2l mulrC ler_wpmul2l ?(ltW t0).
Qed.
Lemma tilt_ge t : t < 0 -> a + t / 4%:R <= tilt t <= a.
Proof.
move=> t0; have [c _ e] := MVT t0 (fun x _ => derive_tilt x) (continuous_derive derive_tilt).
have tE : tilt t = a + tilt c * (1 - tilt c) * t by move: e; rewrite tilt0 sub0r => e; rewrite -[tilt t](subKr a) e; ring.
have /andP[s0 s1] := slope_tilt c; rewrite tE ler_add2l ger_addl mulrC ler_nmul2r //= s1 /=.
by rewrite mulr_ge0_le0 // ltW.
Qed.

Lemma gap0 : gap 0 = 1.
Proof. by rewrite /gap /mix mulr0 expr0n mul0r addr0 oppr0 expR0 !mulr1 subrK. Qed.
Lemma gap_ge0 t : 0 <= gap t.
Proof. by rewrite mulr_ge0 // ltW ?mix_gt0 ?expR_gt0. Qed.
Lemma gap_le1 t : gap t <= 1.
Proof.
have [t0|t0|->] := ltgtP t 0; last by rewrite gap0.
- have [c] := MVT t0 (fun x _ => derive_gap x) (continuous_derive derive_gap).
  rewrite in_itv /= gap0 sub0r => /andP[_ c0] e; rewrite -subr_ge0 e mulr_ge0 ?oppr_ge0 ?(ltW t0) // mulr_ge0 ?gap_ge0 //.
  by have /andP[h _] := tilt_ge c0; rewrite -addrA -opprD subr_ge0.
- have [c] := MVT t0 (fun x _ => derive_gap x) (continuous_derive derive_gap).
  rewrite in_itv /= gap0 subr0 => /andP[c0 _] e; rewrite -subr_le0 e mulr_le0_ge0 ?(ltW t0) // mulr_ge0_le0 ?gap_ge0 //.
  by have /andP[_ h] := tilt_le (ltW c0); rewrite -addrA -opprD subr_le0.
Qed.
Theorem two_points t : mix t <= expR (a * t + t ^+ 2 / 8%:R).
Proof.
have := gap_le1 t; rewrite /gap expRN ler_pdivr_mulr ?expR_gt0 // mul1r; exact.
Qed.
End TwoPoints.

(* Hoeffding's lemma for weights w on finitely many points *)
Section Hoeffding.
Variables (R : realType) (I : finType) (w : I -> R).
Hypotheses (w0 : forall i, 0 <= w i) (w1 : \sum_i w i = 1).

Theorem hoeffding (f : I -> R) (l c t : R) : (forall i, l <= f i <= l + c) ->
  \sum_i w i * expR (t * f i) <= expR (t * (\sum_i w i * f i) + (t * c) ^+ 2 / 8%:R).
Proof.
move=> fl; set mean := \sum_i w i * f i.
have [c0|c0] := eqVneq c 0.
  have fE i : f i = l by have := fl i; rewrite c0 addr0 => h; apply/eqP; rewrite eq_le andbC.
  have mE : mean = l by rewrite -[RHS]mul1r -w1 mulr_suml; apply: eq_bigr => i _; rewrite fE.
  rewrite (eq_bigr (fun i => w i * expR (t * l))) => [|i _]; last by rewrite fE.
  by rewrite -mulr_suml w1 mul1r mE c0 mulr0 expr0n mul0r addr0.
have [i0 _|noI] := pickP I; last by move: w1; rewrite big_pred0 // => /eqP; rewrite eq_sym oner_eq0.
have cp : 0 < c.
  by rewrite lt_def c0 /=; have /andP[h1 h2] := fl i0; have := le_trans h1 h2; rewrite ler_addl.
pose a := (mean - l) / c.
have mb : l <= mean <= l + c.
  have bl (k : R) : \sum_i w i * k = k by rewrite -mulr_suml w1 mul1r.
  apply/andP; split; [rewrite -[X in X <= _](bl l) | rewrite -[X in _ <= X](bl (l + c))];
    by apply: ler_sum => i _; apply: ler_wpmul2l => //; case/andP: (fl i).
have a01 : 0 <= a <= 1.
  case/andP: mb => h1 h2; rewrite divr_ge0 ?subr_ge0 ?(ltW cp) //= ler_pdivr_mulr // mul1r ler_subl_addl //.
pose b i := (f i - l) / c.
have b01 i : 0 <= b i <= 1.
  case/andP: (fl i) => h1 h2; rewrite divr_ge0 ?subr_ge0 ?(ltW cp) //= ler_pdivr_mulr // mul1r ler_subl_addl //.
have pt i : expR (t * f i) <= expR (t * l) * (1 - b i + b i * expR (t * c)).
  have -> : t * f i = b i * (t * (l + c)) + (1 - b i) * (t * l) by rewrite /b; field.
  apply: le_trans (expR_convex2 _ _ (b01 i)) _; rewrite [t * (l + c)]mulrDr expRD.
  by move: (b i) (expR _) (expR _) => x y z; rewrite le_eqVlt; apply/orP; left; apply/eqP; ring.
apply: (@le_trans _ _ (\sum_i w i * (expR (t * l) * (1 - b i + b i * expR (t * c))))).
  by apply: ler_sum => i _; rewrite ler_wpmul2l.
have -> : \sum_i w i * (expR (t * l) * (1 - b i + b i * expR (t * c))) = expR (t * l) * mix a (t * c).
  have ba : \sum_i w i * b i = a.
    rewrite /b /a (eq_bigr (fun i => c^-1 * (w i * f i) + - (l / c) * w i)) => [|i _]; last by field.
    by rewrite big_split /= -!mulr_sumr w1 -/mean; field.
  rewrite (eq_bigr (fun i => expR (t * l) * w i + expR (t * l) * (expR (t * c) - 1) * (w i * b i))) => [|i _]; last first.
    by move: (expR _) (expR _) (b i) (w i) => *; ring.
  by rewrite big_split /= -!mulr_sumr w1 ba /mix; move: (expR _) (expR _) => *; ring.
apply: le_trans (ler_wpmul2l (ltW (expR_gt0 _)) (two_points a01 _)) _; rewrite -expRD ler_expR.
by rewrite le_eqVlt; apply/orP; left; apply/eqP; rewrite /a; field.
Qed.
End Hoeffding.

(* the mean of f over m independent draws from w *)
Section Draws.
Variables (R : realType) (I : finType) (w : I -> R).
Hypotheses (w0 : forall i, 0 <= w i) (w1 : \sum_i w i = 1).

Definition Ex m (f : {ffun 'I_m -> I} -> R) : R := \sum_(s : {ffun 'I_m -> I}) (\prod_i w (s i)) * f s.
Definition prepend m (a : I) (s : {ffun 'I_m -> I}) : {ffun 'I_m.+1 -> I} :=
  [ffun i => if unlift ord0 i is Some j then s j else a].

Lemma prepend0 m a (s : {ffun 'I_m -> I}) : prepend a s ord0 = a.
Proof. by rewrite ffunE unlift_none. Qed.
Lemma prependS m a (s : {ffun 'I_m -> I}) j : prepend a s (lift ord0 j) = s j.
Proof. by rewrite ffunE liftK. Qed.
Lemma ExS m (f : {ffun 'I_m.+1 -> I} -> R) : Ex f = \sum_a w a * Ex (fun s => f (prepend a s)).
Proof.
pose g (q : I * {ffun 'I_m -> I}) := prepend q.1 q.2.
rewrite /Ex (reindex g) /=; last first.
  exists (fun s : {ffun 'I_m.+1 -> I} => (s ord0, [ffun j => s (lift ord0 j)])) => [[a s] _|s _] /=.
    by rewrite prepend0; congr pair; apply/ffunP => j; rewrite ffunE prependS.
  by apply/ffunP => i; rewrite ffunE; case: unliftP => [j ->|->] //=; rewrite ffunE.
rewrite -(pair_bigA _ (fun a s => (\prod_i w (prepend a s i)) * f (prepend a s))) /=.
apply: eq_bigr => a _; rewrite mulr_sumr; apply: eq_bigr => s _.
rewrite big_ord_recl prepend0 mulrA; congr (_ * _ * _).
by apply: eq_bigr => j _; rewrite prependS.
Qed.
Lemma Ex0 (f : {ffun 'I_0 -> I} -> R) s : Ex f = f s.
Proof.
have one s' : s' = s by apply/ffunP => -[].
rewrite /Ex (eq_bigr (fun=> f s)) => [|s' _]; first by rewrite sumr_const card_ffun card_ord expn0 mulr1n.
by rewrite (one s') big1 ?mul1r // => -[].
Qed.
Lemma Ex_le m (f g : {ffun 'I_m -> I} -> R) : (forall s, f s <= g s) -> Ex f <= Ex g.
Proof. by move=> fg; apply: ler_sum => s _; rewrite ler_wpmul2l // prodr_ge0. Qed.
Lemma Ex_scale m (c : R) (f : {ffun 'I_m -> I} -> R) : Ex (fun s => c * f s) = c * Ex f.
Proof. by rewrite /Ex mulr_sumr; apply: eq_bigr => s _; rewrite mulrCA. Qed.
Lemma Ex_add m (f g : {ffun 'I_m -> I} -> R) : Ex (fun s => f s + g s) = Ex f + Ex g.
Proof. by rewrite /Ex -big_split; apply: eq_bigr => s _; rewrite mulrDr. Qed.
Lemma Ex_const m (c : R) : Ex (fun _ : {ffun 'I_m -> I} => c) = c.
Proof.
elim: m => [|m IH]; last by rewrite ExS IH -mulr_suml w1 mul1r.
have [i|noI] := pickP I; first by rewrite (Ex0 _ [ffun=> i]).
by move: w1; rewrite big_pred0 // => /eqP; rewrite eq_sym oner_eq0.
Qed.

Theorem bounded_differences m (f : {ffun 'I_m -> I} -> R) (c : 'I_m -> R) (t : R) :
  (forall (s s' : {ffun 'I_m -> I}) i, (forall j, j != i -> s j = s' j) -> f s - f s' <= c i) ->
  Ex (fun s => expR (t * f s)) <= expR (t * Ex f + t ^+ 2 * (\sum_i c i ^+ 2) / 8%:R).
Proof.
have [i0 _|noI] := pickP I; last by move: w1; rewrite big_pred0 // => /eqP; rewrite eq_sym oner_eq0.
elim: m f c => [|m IH] f c dif.
  by rewrite !(Ex0 _ [ffun=> i0]) big_ord0 mulr0 mul0r addr0.
pose F a := Ex (fun s => f (prepend a s)); pose V := \sum_j c (lift ord0 j) ^+ 2.
rewrite ExS; apply: (@le_trans _ _ (\sum_a w a * expR (t * F a + t ^+ 2 * V / 8%:R))).
  apply: ler_sum => a _; rewrite ler_wpmul2l //; apply: IH => s s' j ss; apply: dif => i ij.
  by rewrite !ffunE; case: unliftP ij => [k ->|//]; rewrite (inj_eq lift_inj) => /ss.
pose b := [arg min_(a < i0) F a]%O.
have Fb a : F b <= F a by rewrite /b; case: arg_minP => // a1 _; apply.
have Fc a : F b <= F a <= F b + c ord0.
  rewrite Fb /= -(Ex_const m (c ord0)) -Ex_add; apply: Ex_le => s; rewrite addrC -ler_subl_addr; apply: dif => i.
  by rewrite !ffunE; case: unliftP => [k ->|->] //; rewrite eqxx.
have := hoeffding w0 w1 t Fc => h; rewrite (eq_bigr (fun a => expR (t ^+ 2 * V / 8%:R) * (w a * expR (t * F a)))); last first.
  by move=> a _; rewrite expRD; move: (expR _) (expR _) => u v; ring.
rewrite -mulr_sumr; apply: le_trans (ler_wpmul2l (ltW (expR_gt0 _)) h) _; rewrite -expRD ler_expR.
rewrite big_ord_recl -/V ExS -/F le_eqVlt; apply/orP; left; apply/eqP.
by move: (\sum_i _) V => A B; field.
Qed.
End Draws.

Lemma E_Ex (R : realType) m (f : signs m -> R) : E f = Ex (fun=> 2%:R^-1) f.
Proof.
rewrite /E /Ex mulr_suml; apply: eq_bigr => s _; rewrite prodr_const card_ord natrX exprVn mulrC //.
Qed.
