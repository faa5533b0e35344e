(* margin-bound for a distribution of finite support: atoms a with weights w_a, families G_k of margins a -> y h(x), |g| <= M.
   With probability 1 - δ, for every ensemble with Σ_t |w_t| = 1,
     R(f) <= ramp_ρ(f) + (2/ρ) Σ_t |w_t| R_m(G_{k(t)}) + (2M/ρ) sqrt(2 log l/m) + sqrt(log(1/δ)/(2m)). *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From mathcomp.classical Require Import boolp classical_sets.
From mathcomp.analysis Require Import reals sequences exp.
From AdaNet Require Import signs suprema contraction exponential norms families lemma_2_peeled distributions symmetrisation.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.

Section Ramp.
Variables (R : realType) (rho : R).
Hypothesis rho0 : 0 < rho.
Definition ramp (u : R) : R := Num.max 0 (Num.min 1 (1 - u / rho)).
Lemma ramp01 u : 0 <= ramp u <= 1.
Proof. by rewrite /ramp le_maxr lexx /= le_maxl ler01 le_minl lexx. Qed.
Lemma ramp_error (u : R) : ((u <= 0)%R)%:R <= ramp u.
Proof.
case: (leP u 0) => [u0|_]; last by case/andP: (ramp01 u).
by rewrite /ramp le_maxr le_minr lexx /= ler_subr_addr ger_addl pmulr_lle0 ?invr_gt0 // u0 orbT.
Qed.
Lemma ramp_lip : lipschitz rho^-1 ramp.
Proof.
apply: lip_ordered => x y xy; rewrite /ramp.
have d0 : 0 <= rho^-1 * (y - x) by rewrite mulr_ge0 ?subr_ge0 // invr_ge0 ltW.
have e : 1 - x / rho = 1 - y / rho + rho^-1 * (y - x) by ring.
rewrite e; move: (1 - y / rho) (rho^-1 * (y - x)) d0 => u d d0; rewrite distrC ger0_norm; last first.
  rewrite subr_ge0 le_maxl; apply/andP; split; first by rewrite le_maxr lexx.
  rewrite le_maxr; apply/orP; right; rewrite le_minr; apply/andP; split; first by rewrite le_minl lexx.
  by rewrite le_minl ler_addl d0 orbT.
rewrite ler_subl_addl le_maxl; apply/andP; split; first by rewrite addr_ge0 // le_maxr lexx.
rewrite -(ler_subl_addr _ d) le_maxr; apply/orP; right; rewrite le_minr; apply/andP; split.
  by rewrite ler_subl_addr le_minl ler_addl d0.
by rewrite ler_subl_addr le_minl lexx orbT.
Qed.
End Ramp.

Lemma Ex_jensen (R : realType) (I : finType) (w : I -> R) m (f : {ffun 'I_m -> I} -> R) :
  (forall i, 0 <= w i) -> \sum_i w i = 1 -> expR (Ex w f) <= Ex w (fun s => expR (f s)).
Proof.
move=> w0 w1; have H := Ex_le w0 (fun s => expR_tangent (f s) (Ex w f)); apply: le_trans H.
rewrite Ex_scale Ex_add Ex_const // (_ : Ex w (fun s => f s - Ex w f) = 0) ?addr0 ?mulr1 //.
by rewrite (Ex_add w f (fun=> - Ex w f)) Ex_const // subrr.
Qed.
Lemma Ex_sum (R : realType) (I : finType) (w : I -> R) m l (f : 'I_l -> {ffun 'I_m -> I} -> R) :
  Ex w (fun s => \sum_k f k s) = \sum_k Ex w (f k).
Proof. by rewrite /Ex exchange_big; apply: eq_bigr => s _; rewrite mulr_sumr. Qed.

(* the mean of the largest of l centred variables whose moments are below e^(t²V/2) *)
Lemma Ex_max (R : realType) (I : finType) (w : I -> R) m l (f : 'I_l -> {ffun 'I_m -> I} -> R) (V : R) :
  (forall i, 0 <= w i) -> \sum_i w i = 1 -> (0 < l)%N -> 0 <= V ->
  (forall k t, 0 < t -> Ex w (fun s => expR (t * f k s)) <= expR (t ^+ 2 * V / 2%:R)) ->
  Ex w (fun s => Sup setT (fun k => f k s)) <= Num.sqrt (2%:R * ln l%:R * V).
Proof.
move=> w0 w1 l0 V0 mgf; have L0 : 0 < (l%:R : R) by rewrite ltr0n.
apply: sqrt_of_moment => // [|t t0]; first by rewrite ln_ge0 // ler1n.
rewrite -ler_expR expRD lnK // -Ex_scale; apply: le_trans (Ex_jensen _ w0 w1) _.
apply: (@le_trans _ _ (Ex w (fun s => \sum_k expR (t * f k s)))).
  apply: Ex_le => // s; apply: exp_Sup_le => // [|k _]; first by exists (Ordinal l0).
  by rewrite (bigD1 k) //= ler_addl sumr_ge0 // => j _; rewrite ltW // expR_gt0.
rewrite Ex_sum; apply: (@le_trans _ _ (\sum_(k < l) expR (t ^+ 2 * V / 2%:R))); first by apply: ler_sum => k _; exact: mgf.
by rewrite sumr_const card_ord mulr_natl.
Qed.

Section Margin.
Variables (R : realType) (I : finType) (w : I -> R) (l m : nat) (G : 'I_l -> set (I -> R)) (M rho : R).
Hypotheses (w0 : forall i, 0 <= w i) (w1 : \sum_i w i = 1) (m0 : (0 < m)%N) (l0 : (0 < l)%N) (rho0 : 0 < rho).
Hypotheses (G0 : forall k, G k (fun=> 0)) (Gneg : forall k g, G k g -> G k (fun a => - g a)).
Hypothesis GM : forall k g a, G k g -> `|g a| <= M.

Record ensemble := Ensemble { size : nat; weight : 'I_size -> R; layer : 'I_size -> 'I_l; unit_of : 'I_size -> I -> R }.
Definition admissible th := \sum_t `|weight (e := th) t| = 1 /\ forall t, G (layer t) (unit_of (e := th) t).
Definition value (th : ensemble) (a : I) : R := \sum_t weight t * unit_of (e := th) t a.
(* R_m(G_k) *)
Definition Rm k : R := Ex w (fun S : {ffun 'I_m -> I} => Rad (fun i => S i) (G k)).
Definition risk (th : ensemble) : R := \sum_a w a * ((value th a <= 0)%R)%:R.
Definition ramp_loss (S : {ffun 'I_m -> I}) (th : ensemble) : R := m%:R^-1 * \sum_i ramp rho (value th (S i)).
Definition penalty (th : ensemble) : R := rho^-1 * \sum_t `|weight t| * Rm (layer (e := th) t).

Let mR : 0 < (m%:R : R). Proof. by rewrite ltr0n. Qed.
Let im : 0 <= (m%:R^-1 : R). Proof. by rewrite invr_ge0 ler0n. Qed.
Let half (b : bool) : R := 2%:R^-1.
Let half0 b : 0 <= half b. Proof. by rewrite invr_ge0 ler0n. Qed.
Let half1 : \sum_b half b = 1. Proof. by rewrite big_bool /half /= -mulr2n -[_ *+ 2]mulr_natr mulVf // pnatr_eq0. Qed.
Let M0 : 0 <= M. Proof. by have [i _|n] := pickP I; [apply: le_trans (normr_ge0 _) (GM i (G0 (Ordinal l0))) | move: w1; rewrite big_pred0 // => /eqP; rewrite eq_sym oner_eq0]. Qed.
Let Gne k : G k !=set0. Proof. by exists (fun=> 0). Qed.

(* Z_k as a function of the pairs (x_i, σ_i) *)
Definition Zp k (z : {ffun 'I_m -> I * bool}) : R := m%:R^-1 * Sup (G k) (fun h => \sum_i (-1) ^+ (z i).2 * h (z i).1).
Let bZ k (z : {ffun 'I_m -> I * bool}) : bounded_on (G k) (fun h => \sum_(i < m) (-1) ^+ (z i).2 * h (z i).1 : R).
Proof.
exists (\sum_(i < m) M) => h Gh; apply: ler_sum => i _; apply: le_trans (ler_norm _) _.
by rewrite normrM normrX normrN1 expr1n mul1r (GM _ Gh).
Qed.
Lemma Zp_differences k (z z' : {ffun 'I_m -> I * bool}) i : (forall j, j != i -> z j = z' j) -> Zp k z - Zp k z' <= 2%:R * M / m%:R.
Proof.
move=> zz; rewrite /Zp -mulrBr mulrC ler_pmul2r ?invr_gt0 // ler_subl_addr; apply: Sup_le => // h Gh.
have := Sup_ub (bZ k z') Gh.
pose rest (y : {ffun 'I_m -> I * bool}) : R := \sum_(j < m | j != i) (-1) ^+ (y j).2 * h (y j).1.
have sE (y : {ffun 'I_m -> I * bool}) : \sum_j (-1) ^+ (y j).2 * h (y j).1 = (-1) ^+ (y i).2 * h (y i).1 + rest y by rewrite (bigD1 i).
have rE : rest z = rest z' by apply: eq_bigr => j ji; rewrite zz.
have bd (y : I * bool) : `|(-1) ^+ y.2 * h y.1| <= M by rewrite normrM normrX normrN1 expr1n mul1r (GM _ Gh).
have h1 := le_trans (ler_norm _) (bd (z i)); have := bd (z' i); rewrite ler_norml => /andP[h2 _].
rewrite !sE rE; move: (rest z') (Sup _ _) ((-1) ^+ (z i).2 * _) ((-1) ^+ (z' i).2 * _) h1 h2 => a b c d h1 h2 h3.
by linear (ler_add (ler_add h1 h2) h3).
Qed.
Lemma Ex_Zp k : Ex (both w half) (Zp k) = Rm k.
Proof.
rewrite Ex_pairs; apply: eq_Ex => S; rewrite /Rad -E_scale E_Ex; apply: eq_Ex => s; congr (_ * _).
by apply: eq_Sup => h _; apply: eq_bigr => i _; rewrite ffunE.
Qed.
Lemma max_Z : Ex w (fun S => E (fun s : signs m => Sup setT (fun k => Zp k (pairs S s) - Rm k))) <= M * Num.sqrt (2%:R * ln l%:R / m%:R).
Proof.
rewrite (eq_Ex w (g := fun S => Ex half (fun s => Sup setT (fun k => Zp k (pairs S s) - Rm k)))) => [|S]; last by rewrite E_Ex.
rewrite -(Ex_pairs w half (fun z => Sup setT (fun k => Zp k z - Rm k))).
have V0 : 0 <= M ^+ 2 / m%:R by rewrite mulr_ge0 ?sqr_ge0.
apply: le_trans (Ex_max (both_ge0 w0 half0) (both_sum w1 half1) l0 V0 _) _.
  move=> k t t0; rewrite (eq_Ex _ (g := fun z => expR (- (t * Rm k)) * expR (t * Zp k z))) => [|z]; last first.
    by rewrite -expRD; congr expR; ring.
  rewrite Ex_scale mulrC expRN ler_pdivr_mulr ?expR_gt0 // -expRD.
  apply: le_trans (bounded_differences (both_ge0 w0 half0) (both_sum w1 half1) t (@Zp_differences k)) _.
  rewrite ler_expR Ex_Zp sumr_const card_ord -[_ *+ m]mulr_natl le_eqVlt; apply/orP; left; apply/eqP.
  by move: (gt_eqF mR) (Rm k); move: (m%:R : R) => c hc r; field; rewrite hc.
rewrite (_ : _ * (M ^+ 2 / m%:R) = M ^+ 2 * (2%:R * ln l%:R / m%:R)); last by move: (ln _) (m%:R^-1) => *; ring.
by rewrite sqrtrM ?sqr_ge0 // sqrtr_sqr ger0_norm.
Qed.

Lemma Rm_ge0 k : 0 <= Rm k.
Proof.
rewrite -Ex_Zp -(Ex_const (both_sum w1 half1) m 0); apply: Ex_le => [|z]; first exact: both_ge0.
rewrite mulr_ge0 //; apply: le_trans (Sup_ub (bZ k z) (G0 k)); rewrite big1 // => i _; by rewrite mulr0.
Qed.
Lemma penalty_ge0 th : 0 <= penalty th.
Proof. by rewrite mulr_ge0 ?invr_ge0 ?(ltW rho0) // sumr_ge0 // => t _; rewrite mulr_ge0 // Rm_ge0. Qed.
Lemma adm_ne : admissible !=set0.
Proof.
exists (@Ensemble 1 (fun=> 1) (fun=> Ordinal l0) (fun _ _ => 0)); split => //=.
by rewrite big_ord1 normr1.
Qed.
Lemma value_le th a : admissible th -> `|value th a| <= M.
Proof.
move=> [n1 hG]; apply: le_trans (ler_norm_sum _ _ _) _; rewrite -[M]mul1r -n1 mulr_suml; apply: ler_sum => t _.
by rewrite normrM ler_wpmul2l // (GM _ (hG t)).
Qed.

Lemma contracted (S : {ffun 'I_m -> I}) : E (fun s : signs m => Sup admissible (fun th => - penalty th + dot s (fun i => m%:R^-1 * ramp rho (value th (S i))))) <=
  rho^-1 * E (fun s => Sup setT (fun k => Zp k (pairs S s) - Rm k)).
Proof.
have ir : 0 <= rho^-1 by rewrite invr_ge0 ltW.
have bg : bounded_on admissible (fun th => - penalty th) by exists 0 => th _; rewrite oppr_le0 penalty_ge0.
have bu : bounded_at admissible (fun th (i : 'I_m) => m%:R^-1 * ramp rho (value th (S i))).
  move=> i; exists m%:R^-1 => th _; have /andP[h1 h2] := ramp01 rho (value th (S i)).
  by rewrite normrM (ger0_norm im) (ger0_norm h1) ler_pimulr.
have bv : bounded_at admissible (fun th (i : 'I_m) => m%:R^-1 * (rho^-1 * value th (S i))).
  move=> i; exists (m%:R^-1 * (rho^-1 * M)) => th ath.
  by rewrite !normrM (ger0_norm im) (ger0_norm ir) !ler_wpmul2l // value_le.
apply: le_trans (contraction_coordinates adm_ne bg bu bv _) _.
  move=> j th th' _ _; rewrite -!mulrBr !normrM (ger0_norm im) (ger0_norm ir) ler_wpmul2l //.
  exact: (ramp_lip rho0).
rewrite -E_scale; apply: E_le => s; apply: Sup_le => [|th [n1 hG]]; first exact: adm_ne.
have bS : bounded_on setT (fun k => Zp k (pairs S s) - Rm k).
  exists (\sum_k `|Zp k (pairs S s) - Rm k|) => k _; rewrite (bigD1 k) //=.
  by rewrite (le_trans (ler_norm _)) // ler_addl sumr_ge0.
rewrite /lin dotZ dotZ /penalty /value; set Mx := Sup setT _.
have -> : dot s (fun i => \sum_t weight t * unit_of (e := th) t (S i)) = \sum_t weight t * dot s (fun i => unit_of (e := th) t (S i)).
  by rewrite dot_sum; apply: eq_bigr => t _; rewrite dotZ.
have key : m%:R^-1 * (\sum_t weight t * dot s (fun i => unit_of (e := th) t (S i))) <= \sum_t `|weight t| * Rm (layer (e := th) t) + Mx.
  have MxE : Mx = \sum_t `|weight (e := th) t| * Mx by rewrite -mulr_suml n1 mul1r.
  rewrite [X in _ <= _ + X]MxE -big_split mulr_sumr; apply: ler_sum => t _ /=; rewrite -mulrDr mulrCA.
  apply: le_trans (ler_norm _) _; rewrite normrM ler_wpmul2l //; apply: (@le_trans _ _ (Zp (layer t) (pairs S s))).
    rewrite normrM (ger0_norm im) ler_wpmul2l //.
    have dE (h : I -> R) : dot s (fun i => h (S i)) = \sum_i (-1) ^+ (pairs S s i).2 * h (pairs S s i).1 by apply: eq_bigr => i _; rewrite ffunE.
    rewrite ler_norml ler_oppl -dotN (dE (fun a => - unit_of (e := th) t a)) (dE (unit_of (e := th) t)); apply/andP; split; last exact: (Sup_ub (bZ _ _) (hG t)).
    exact: (Sup_ub (bZ _ (pairs S s)) (Gneg (hG t))).
  by rewrite -ler_subl_addl; apply: (Sup_ub bS).
have := ler_wpmul2l ir key; move: (\sum_t _) (\sum_t _) => a b le1; by linear le1.
Qed.

Local Notation dev := (deviation (m := m) w (fun th a => ramp rho (value th a)) penalty).
Lemma mean_deviation : Ex w (fun S => Sup admissible (dev S)) <= 2%:R * M / rho * Num.sqrt (2%:R * ln l%:R / m%:R).
Proof.
apply: le_trans (symmetrisation w0 w1 m0 adm_ne (fun th a => ramp01 rho (value th a)) (fun th _ => penalty_ge0 th)) _.
set Q := Num.sqrt _; rewrite (_ : 2%:R * M / rho * Q = 2%:R * (rho^-1 * (M * Q))); last by ring.
rewrite ler_wpmul2l ?ler0n //.
have ir : 0 <= rho^-1 by rewrite invr_ge0 ltW.
apply: le_trans (Ex_le w0 contracted) _; rewrite Ex_scale ler_wpmul2l //; exact: max_Z.
Qed.
Lemma dev_differences (S S' : {ffun 'I_m -> I}) i : (forall j, j != i -> S j = S' j) ->
  Sup admissible (dev S) - Sup admissible (dev S') <= m%:R^-1.
Proof.
move=> SS; rewrite ler_subl_addr; apply: Sup_le => [|th ath]; first exact: adm_ne.
have B := bounded_deviation w0 w1 m0 (fun th a => ramp01 rho (value th a)) (fun th (_ : admissible th) => penalty_ge0 th) S'.
have le1 := Sup_ub B ath; apply: le_trans (ler_add (lexx _) le1); rewrite /deviation.
pose rest (U : {ffun 'I_m -> I}) := \sum_(j < m | j != i) ramp rho (value th (U j)).
have sE (U : {ffun 'I_m -> I}) : \sum_j ramp rho (value th (U j)) = ramp rho (value th (U i)) + rest U by rewrite (bigD1 i).
have rE : rest S = rest S' by apply: eq_bigr => j ji; rewrite SS.
rewrite !sE rE; have /andP[h1 _] := ramp01 rho (value th (S i)); have /andP[_ h2] := ramp01 rho (value th (S' i)).
have := im; clear sE rE; move: (rest S') (\sum_a _) (ramp rho (value th (S i))) (ramp rho (value th (S' i))) h1 h2.
move: (m%:R^-1) (penalty th) => c q a b u v h1 h2 c0; have h3 := ler_wpmul2l c0 (ler_add h1 h2).
by linear h3.
Qed.

(* the sample draws a bad event with probability at most δ *)
Definition failure (eps : R) (S : {ffun 'I_m -> I}) : bool :=
  `[< exists th, admissible th /\ ramp_loss S th + 2%:R * penalty th + eps < risk th >].

Theorem margin_bound (delta : R) : 0 < delta < 1 ->
  Ex w (fun S => (failure (2%:R * M / rho * Num.sqrt (2%:R * ln l%:R / m%:R) + Num.sqrt (ln delta^-1 / (2%:R * m%:R))) S)%:R) <= delta.
Proof.
move=> /andP[d0 d1]; set B := 2%:R * M / rho * _; set e := Num.sqrt _.
have ld : 0 < ln delta^-1 by apply: ln_gt0; rewrite invf_gt1.
have e2 : e ^+ 2 = ln delta^-1 / (2%:R * m%:R) by rewrite sqr_sqrtr // divr_ge0 ?(ltW ld) // mulr_ge0 ?ler0n.
have e0 : 0 < e by rewrite sqrtr_gt0 divr_gt0 // mulr_gt0 ?ltr0n.
pose t := 4%:R * m%:R * e; have t0 : 0 < t by rewrite !mulr_gt0 ?ltr0n.
pose DS S := Sup admissible (dev S).
have ptw S : (failure (B + e) S)%:R <= expR (t * (DS S - (B + e))).
  rewrite /failure; case: asboolP => [[th [ath lt]]|_]; last by rewrite ltW // expR_gt0.
  rewrite -[X in X <= _](expR0 R) ler_expR mulr_ge0 ?(ltW t0) // subr_ge0.
  have Bd := bounded_deviation w0 w1 m0 (fun th a => ramp01 rho (value th a)) (fun th (_ : admissible th) => penalty_ge0 th) S.
  apply: le_trans (Sup_ub Bd ath); rewrite /deviation.
  have rk : risk th <= \sum_a w a * ramp rho (value th a) by apply: ler_sum => a _; rewrite ler_wpmul2l // ramp_error.
  have h := ler_add (ltW lt) rk; rewrite /ramp_loss in h; by linear h.
apply: le_trans (Ex_le w0 ptw) _.
rewrite (eq_Ex w (g := fun S => expR (- (t * (B + e))) * expR (t * DS S))) => [|S]; last first.
  by rewrite -expRD; congr expR; ring.
rewrite Ex_scale; have h := bounded_differences w0 w1 t dev_differences.
apply: le_trans (ler_wpmul2l (ltW (expR_gt0 _)) h) _; rewrite -expRD -[X in _ <= X](lnK d0) ler_expR.
have le1 := ler_wpmul2l (ltW t0) mean_deviation; rewrite -/B in le1.
rewrite sumr_const card_ord -[_ *+ m]mulr_natl.
have v1 : t ^+ 2 * (m%:R * m%:R^-1 ^+ 2) / 8%:R = 2%:R * m%:R * e ^+ 2.
  by rewrite /t; move: (gt_eqF mR); move: (m%:R : R) => c hc; field; rewrite hc.
have v2 : t * e = 4%:R * m%:R * e ^+ 2 by rewrite /t; ring.
have v3 : m%:R * e ^+ 2 = - ln delta / 2%:R.
  by rewrite e2 lnV //; move: (gt_eqF mR); move: (m%:R : R) => c hc; field; rewrite hc.
have v4 : 4%:R * m%:R * e ^+ 2 = - (2%:R * ln delta) by rewrite -mulrA v3; field.
have v5 : 2%:R * m%:R * e ^+ 2 = - ln delta by rewrite -mulrA v3; field.
rewrite v1 [t * (B + e)]mulrDr v2 v4 v5; move: (t * Ex w _) (t * B) (ln delta) le1 => x y u le1.
by linear le1.
Qed.
End Margin.

(* The margins y h(x) of a family on X have the complexity of the family: σ absorbs y. *)
Section Margins.
Variables (R : realType) (I : finType) (X : Type) (xs : I -> X) (ys : I -> bool) (m : nat).
Definition margins (F : set (X -> R)) : set (I -> R) := [set g | exists2 h, F h & forall a, g a = (-1) ^+ ys a * h (xs a)].

Lemma E_twist (e : signs m) (f : signs m -> R) : E (fun s => f [ffun i => e i (+) s i]) = E f.
Proof.
have tK : involutive (fun s : signs m => [ffun i => e i (+) s i] : signs m).
  by move=> s; apply/ffunP => i; rewrite !ffunE addbA addbb.
by rewrite /E [in RHS](reindex_inj (can_inj tK)).
Qed.
Theorem Rad_margins (F : set (X -> R)) (S : {ffun 'I_m -> I}) :
  Rad (fun i => S i) (margins F) = Rad (fun i => xs (S i)) F.
Proof.
rewrite /Rad; congr (_ * _); rewrite -[RHS](E_twist [ffun i => ys (S i)]); apply: eq_E => s.
have dE (h : X -> R) (g : I -> R) : (forall a, g a = (-1) ^+ ys a * h (xs a)) ->
    dot [ffun i => [ffun i => ys (S i)] i (+) s i] (at_sample (fun i => xs (S i)) h) = dot s (at_sample (fun i => S i) g).
  move=> gE; apply: eq_bigr => i _; rewrite /sg !ffunE signr_addb /at_sample gE.
  by move: ((-1) ^+ ys _) ((-1) ^+ s i) (h _) => a b c; ring.
congr sup; apply/seteqP; split=> _ [g Fg <-].
  by have [h Fh gE] := Fg; exists h => //; exact: dE.
by exists (fun a => (-1) ^+ ys a * g (xs a)); [exists g | rewrite -(dE g)].
Qed.
End Margins.

Theorem margin_bound_networks (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R) (I : finType) (w : I -> R)
    (xs : I -> X) (ys : I -> bool) (l m : nat) (M rho delta : R) :
  (forall i, 0 <= w i) -> \sum_i w i = 1 -> (0 < m)%N -> (0 < l)%N -> 0 < rho ->
  (forall (k : 'I_l) h a, H Psi k.+1 h -> `|h (xs a)| <= M) -> 0 < delta < 1 ->
  Ex w (fun S : {ffun 'I_m -> I} => (failure w (fun k : 'I_l => margins xs ys (H Psi k.+1)) rho
    (2%:R * M / rho * Num.sqrt (2%:R * ln l%:R / m%:R) + Num.sqrt (ln delta^-1 / (2%:R * m%:R))) S)%:R) <= delta.
Proof.
move=> w0 w1 m0 l0 rho0 hM d01; apply: margin_bound => // [k|k g [h Hh gE]|k g a [h Hh gE]].
- by exists (fun=> 0) => [|a]; [exact: H_zero | rewrite mulr0].
- by exists (fun y => - h y) => [|a]; [exact: H_opp | rewrite gE mulrN].
- by rewrite gE normrM normrX normrN1 expr1n mul1r; exact: hM Hh.
Qed.
