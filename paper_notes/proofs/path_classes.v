(* A network of any widths and weights with positively homogeneous φ, its path norm B, and the width-free class that holds f/B:
   the hull of the features and of ±φ(G_s), s <= d, where G_1 is the hull of the features and G_k that of all ±φ(G_s), s < k. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From mathcomp.classical Require Import boolp classical_sets functions mathcomp_extra.
From mathcomp.analysis Require Import reals sequences exp.
From AdaNet Require Import signs suprema contraction exponential activations families recursions lemma_2_peeled.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.

Definition homogeneous (R : realType) (phi : R -> R) := forall a y : R, 0 <= a -> phi (a * y) = a * phi y.

(* d hidden layers; unit i of layer k reads unit t of layer s < k with weight U k i s t, the output reads Ψ and every layer *)
Record network (R : realType) (n0 : nat) := Network {
  d : nat;
  width : nat -> nat;
  U1 : nat -> 'I_n0 -> R;
  U : nat -> nat -> nat -> nat -> R;
  v0 : 'I_n0 -> R;
  v : nat -> nat -> R }.

Section Networks.
Variables (R : realType) (X : Type) (n0 : nat) (Psi : X -> 'I_n0 -> R) (phi : R -> R) (f : network R n0).

Definition unit_value (x : X) : nat -> nat -> R :=
  recursion (fun k (h : nat -> nat -> R) i => if k == 1%N then \sum_j U1 f i j * Psi x j
    else \sum_(1 <= s < k) \sum_(t < width f s) U f k i s t * phi (h s t)).
Definition path : nat -> nat -> R :=
  recursion (fun k (P : nat -> nat -> R) i => if k == 1%N then \sum_j `|U1 f i j| else \sum_(1 <= s < k) \sum_(t < width f s) `|U f k i s t| * P s t).
Definition output (x : X) : R :=
  \sum_j v0 f j * Psi x j + \sum_(1 <= s < (d f).+1) \sum_(t < width f s) v f s t * phi (unit_value x s t).
Definition path_norm : R := \sum_j `|v0 f j| + \sum_(1 <= s < (d f).+1) \sum_(t < width f s) `|v f s t| * path s t.

Lemma unit_value1 x i : unit_value x 1 i = \sum_j U1 f i j * Psi x j.
Proof. by rewrite /unit_value recursionE. Qed.
Lemma unit_valueE x k i : (1 < k)%N ->
  unit_value x k i = \sum_(1 <= s < k) \sum_(t < width f s) U f k i s t * phi (unit_value x s t).
Proof.
move=> k1; rewrite {1}/unit_value recursionE; first by rewrite gtn_eqF.
move=> h h' hh; apply/funext => j; case: ifP => // _; apply: eq_big_nat => s sk; apply: eq_bigr => t _.
by rewrite hh.
Qed.
Lemma path1 i : path 1 i = \sum_j `|U1 f i j|. Proof. by rewrite /path recursionE. Qed.
Lemma pathE k i : (1 < k)%N -> path k i = \sum_(1 <= s < k) \sum_(t < width f s) `|U f k i s t| * path s t.
Proof.
move=> k1; rewrite {1}/path recursionE; first by rewrite gtn_eqF.
move=> h h' hh; apply/funext => j; case: ifP => // _; apply: eq_big_nat => s sk; apply: eq_bigr => t _.
by rewrite hh.
Qed.
Lemma path_ge0 k i : (0 < k)%N -> 0 <= path k i.
Proof.
elim/ltn_ind: k i => -[|[|k]] // IH i _; first by rewrite path1 sumr_ge0.
rewrite pathE // big_nat; apply: sumr_ge0 => s /andP[s0 sk]; apply: sumr_ge0 => t _.
by rewrite mulr_ge0 ?IH.
Qed.
End Networks.

(* {Σ_t a_t b_t : Σ|a_t| <= 1, b_t in A} *)
Section Hull.
Variables (R : realType) (X : Type).
Implicit Types (A : set (X -> R)) (f : X -> R).
Definition hull A f := exists (T : finType) (a : T -> R) (b : T -> X -> R),
  [/\ \sum_t `|a t| <= 1, forall t, A (b t) & forall x, f x = \sum_t a t * b t x].

Lemma hull_zero A : hull A (fun=> 0).
Proof.
exists [finType of 'I_0], (fun=> 0), (fun _ _ => 0); split=> [|[]//|x]; by rewrite big_ord0 ?ler01.
Qed.
Lemma hull_opp A f : hull A f -> hull A (fun x => - f x).
Proof.
move=> [T [a [b [a1 Ab fE]]]]; exists T, (fun t => - a t), b; split=> // [|x].
  by under eq_bigr do rewrite normrN.
by rewrite fE -sumrN; apply: eq_bigr => t _; rewrite mulNr.
Qed.
Lemma hull_le A f x M : 0 <= M -> (forall b, A b -> `|b x| <= M) -> hull A f -> `|f x| <= M.
Proof.
move=> M0 AM [T [a [b [a1 Ab ->]]]]; apply: le_trans (ler_norm_sum _ _ _) _.
apply: (@le_trans _ _ (\sum_t `|a t| * M)); last by rewrite -mulr_suml ler_pimull.
by apply: ler_sum => t _; rewrite normrM ler_wpmul2l // AM.
Qed.
(* e^(l|Σσ_i f(x_i)|) <= C if the same holds on A *)
Lemma hull_exp A f m (x : 'I_m -> X) (s : signs m) (l C : R) : 0 < l -> 1 <= C ->
  (forall b, A b -> expR (l * `|dot s (at_sample x b)|) <= C) -> hull A f -> expR (l * `|dot s (at_sample x f)|) <= C.
Proof.
move=> l0 C1 AC [T [a [b [a1 Ab fE]]]]; have C0 := lt_le_trans ltr01 C1.
have lC : 0 <= ln C by exact: ln_ge0.
rewrite -[C]lnK // ler_expR mulrC -ler_pdivl_mulr //.
have bb t : `|dot s (at_sample x (b t))| <= ln C / l.
  by rewrite ler_pdivl_mulr // mulrC -ler_expR lnK //; exact: AC.
rewrite (eq_dot s (b := fun i => \sum_t a t * b t (x i))) => [|i]; last by rewrite /at_sample fE.
rewrite dot_sum; apply: le_trans (ler_norm_sum _ _ _) _.
apply: (@le_trans _ _ (\sum_t `|a t| * (ln C / l))).
  by apply: ler_sum => t _; rewrite dotZ normrM ler_wpmul2l //; exact: bb.
by rewrite -mulr_suml ler_pimull // divr_ge0 // ltW.
Qed.
(* Σ_t a_t q_t b_t is Σ_t |a_t| q_t times a member of the hull *)
Lemma hull_scale A (T : finType) (a q : T -> R) (b : T -> X -> R) : (forall t, 0 <= q t) -> (forall t, A (b t)) ->
  exists2 h, hull A h & forall x, \sum_t a t * (q t * b t x) = (\sum_t `|a t| * q t) * h x.
Proof.
move=> q0 Ab; set S := \sum_t _; have aq0 t : 0 <= `|a t| * q t by rewrite mulr_ge0.
have [S0|S0] := eqVneq S 0.
  exists (fun=> 0) => [|x]; first exact: hull_zero.
  rewrite mulr0 big1 // => t _; move/eqP: S0; rewrite psumr_eq0 // => /allP/(_ t (mem_index_enum _)) /=.
  by rewrite mulf_eq0 normr_eq0 => /orP[]/eqP->; rewrite mul0r // mulr0.
have Sp : 0 < S by rewrite lt_def S0 sumr_ge0.
exists (fun x => \sum_t a t * q t / S * b t x) => [|x].
  exists T, (fun t => a t * q t / S), b; split=> //.
  rewrite (eq_bigr (fun t => `|a t| * q t / S)) => [|t _]; last by rewrite !normrM normfV (ger0_norm (q0 t)) (gtr0_norm Sp).
  by rewrite -mulr_suml -/S divff.
rewrite mulr_sumr; apply: eq_bigr => t _; move: (b t x) => y; by field.
Qed.
End Hull.

(* pairs (layer, unit) *)
Lemma sum_units (R : realType) (w : nat -> nat) k (F : nat -> nat -> R) :
  \sum_(1 <= s < k.+1) \sum_(t < w s) F s t = \sum_(q : {i : 'I_k & 'I_(w i.+1)}) F (tag q).+1 (tagged q).
Proof. by rewrite big_add1 /= big_mkord sig_big_dep. Qed.

Section Classes.
Variables (R : realType) (X : Type) (n0 : nat) (Psi : X -> 'I_n0 -> R) (phi : R -> R) (c : R).
Hypotheses (hom : homogeneous phi) (peel : peels phi 1 c) (n0_gt0 : (0 < n0)%N).
Let p0 : phi 0 = 0 := peels_0 peel.
Let lip : lipschitz 1 phi := peels_lipschitz peel.

Definition features : set (X -> R) := [set g | exists j, forall x, g x = Psi x j].
(* φ(G_1), .., φ(G_d) *)
Fixpoint acts k : set (X -> R) :=
  if k is k'.+1 then acts k' `|` [set g | exists2 h, hull (if k' is 0 then features else acts k') h & forall x, g x = phi (h x)]
  else set0.
Definition level k : set (X -> R) := hull (if k is 0 then features else acts k). (* G_{k+1} *)
Definition network_class k : set (X -> R) := hull (features `|` acts k).

Lemma acts_mono k l g : (k <= l)%N -> acts k g -> acts l g.
Proof. by move=> /subnK<-; elim: (l - k)%N => // i IH /IH; left. Qed.
Lemma acts_level k h : level k h -> acts k.+1 (fun x => phi (h x)).
Proof. by move=> hh; right; exists h. Qed.

(* a unit is its path norm times a member of its level *)
Lemma unit_level f k i : exists2 h, level k h & forall x, unit_value Psi phi f x k.+1 i = path f k.+1 i * h x.
Proof.
elim/ltn_ind: k i => -[|k] IH i.
  have [h hh hE] := @hull_scale R X features _ (U1 f i) (fun=> 1) (fun j x => Psi x j) (fun=> ler01) (fun j => ex_intro _ j (fun=> erefl)).
  exists h => // x; rewrite unit_value1 path1 [X in X * _](eq_bigr (fun j => `|U1 f i j| * 1)) => [|j _]; last by rewrite mulr1.
  by rewrite -hE; apply: eq_bigr => j _; rewrite mul1r.
have /choice[h hh] (q : {s : 'I_k.+1 & 'I_(width f s.+1)}) : exists h, level (tag q) h /\
    forall x, unit_value Psi phi f x (tag q).+1 (tagged q) = path f (tag q).+1 (tagged q) * h x.
  by have [h h1 h2] := IH (tag q) (ltn_ord _) (tagged q); exists h.
have Ab q : acts k.+1 (fun x => phi (h q x)).
  by apply: (@acts_mono (tag q).+1) => //; apply: acts_level; case: (hh q).
have [g hg gE] := @hull_scale R X _ [finType of {s : 'I_k.+1 & 'I_(width f s.+1)}] (fun q => U f k.+2 i (tag q).+1 (tagged q)) (fun q => path f (tag q).+1 (tagged q))
  (fun q x => phi (h q x)) (fun q => path_ge0 _ _ (ltn0Sn _)) Ab.
exists g => // x; rewrite unit_valueE // pathE // (sum_units _ _ (fun s t => U f k.+2 i s t * phi (unit_value Psi phi f x s t))).
rewrite (sum_units _ _ (fun s t => `|U f k.+2 i s t| * path f s t)) -gE; apply: eq_bigr => q _.
by have [_ ->] := hh q; rewrite hom // path_ge0.
Qed.
Lemma output_in_class f : exists2 g, network_class (d f) g & forall x, output Psi phi f x = path_norm f * g x.
Proof.
have /choice[h hh] (q : {s : 'I_(d f) & 'I_(width f s.+1)}) : exists h, level (tag q) h /\
    forall x, unit_value Psi phi f x (tag q).+1 (tagged q) = path f (tag q).+1 (tagged q) * h x.
  by have [h h1 h2] := unit_level f (tag q) (tagged q); exists h.
pose T := [finType of ('I_n0 + {s : 'I_(d f) & 'I_(width f s.+1)})].
pose a (t : T) : R := match t with inl j => v0 f j | inr q => v f (tag q).+1 (tagged q) end.
pose w (t : T) : R := match t with inl j => 1 | inr q => path f (tag q).+1 (tagged q) end.
pose b (t : T) x : R := match t with inl j => Psi x j | inr q => phi (h q x) end.
have w0 t : 0 <= w t by case: t => [j|q] /=; rewrite ?ler01 ?path_ge0.
have Ab t : (features `|` acts (d f)) (b t).
  case: t => [j|q]; [by left; exists j | right].
  by apply: (@acts_mono (tag q).+1) => //; apply: acts_level; case: (hh q).
have [g hg gE] := @hull_scale R X _ T a w b w0 Ab; exists g => // x.
rewrite /output /path_norm (sum_units _ _ (fun s t => v f s t * phi (unit_value Psi phi f x s t))).
rewrite (sum_units _ _ (fun s t => `|v f s t| * path f s t)); transitivity ((\sum_t `|a t| * w t) * g x); last first.
  by congr (_ * _); rewrite big_sumType /=; congr (_ + _); apply: eq_bigr => j _; rewrite mulr1.
rewrite -gE big_sumType /=; congr (_ + _); apply: eq_bigr => q _; first by rewrite mul1r.
by have [_ ->] := hh q; rewrite hom // path_ge0.
Qed.

(* every member is bounded by the largest feature *)
Lemma acts_le k g x : acts k g -> `|g x| <= \big[Num.max/0]_j `|Psi x j|.
Proof.
set r := \big[_/_]_j _; have r0 : 0 <= r by apply: (big_ind (fun y => 0 <= y)) => // y z y0 z0; rewrite le_maxr y0.
elim: k g => // k IH g [/IH//|[h hh ->]]; have := lip_abs_le (h x) lip; rewrite p0 normr0 addr0 mul1r => /le_trans; apply.
apply: hull_le hh => // b; case: k IH => [_ [j ->]|k IH]; last exact: IH.
exact: (le_bigmax _ (fun j => `|Psi x j|)).
Qed.
Lemma network_class_le k g x : network_class k g -> `|g x| <= \big[Num.max/0]_j `|Psi x j|.
Proof.
apply: hull_le => [|b [[j ->]|]]; [|exact: (le_bigmax _ (fun j => `|Psi x j|))|exact: acts_le].
by apply: (big_ind (fun y => 0 <= y)) => // y z y0 z0; rewrite le_maxr y0.
Qed.

(* A_0 = 1, A_d = 1 + c (1+c)^(d-1) *)
Definition A k : R := 1 + (if k is k'.+1 then c * (1 + c) ^+ k' else 0).

Section Moments.
Variables (m : nat) (x : 'I_m -> X) (l : R).
Hypothesis l0 : 0 < l.
Let F (s : signs m) := \sum_j expR (l * `|dot s (fun i => Psi (x i) j)|).
Let F1 s : 1 <= F s.
Proof.
rewrite /F (bigD1 (Ordinal n0_gt0)) //= -[X in X <= _]addr0 ler_add ?sumr_ge0 // => [|j _]; last by rewrite ltW // expR_gt0.
by rewrite -(expR0 R) ler_expR mulr_ge0 // ltW.
Qed.
Let featuresF s b : features b -> expR (l * `|dot s (at_sample x b)|) <= F s.
Proof.
move=> [j bE]; rewrite (eq_dot s (b := fun i => Psi (x i) j)) => [|i]; last by rewrite /at_sample bE.
by rewrite /F (bigD1 j) //= ler_paddr ?lexx // sumr_ge0 // => i _; rewrite ltW // expR_gt0.
Qed.
Let c0 : 0 <= c.
Proof. by have [_ [o [g [al [_ [/andP[_ al1] <-]]]]]] := peel; rewrite subr_ge0 (le_trans al1) // ler1n. Qed.

Lemma acts_moment k : exists C : signs m -> R, [/\ forall s, (0 < k)%N -> 1 <= C s, forall s, 0 <= C s,
  forall s b, acts k b -> expR (l * `|dot s (at_sample x b)|) <= C s & E C <= (if k is k'.+1 then c * (1 + c) ^+ k' else 0) * E F].
Proof.
elim: k => [|k [C [C1 C0 Cb EC]]]; first by exists (fun=> 0); split=> //; rewrite E_const mul0r.
pose HF := hull (if k is 0 then features else acts k).
pose base s := if k is 0 then F s else C s.
have base1 s : 1 <= base s by rewrite /base; case: (k) C1 => [_|k' C1]; [exact: F1 | exact: C1].
have below s h : HF h -> expR (l * `|dot s (at_sample x h)|) <= base s.
  apply: hull_exp => // b; rewrite /base; case: (k) Cb => [_|k' Cb]; [exact: featuresF | exact: Cb].
have bd : bounded_at HF (at_sample x).
  move=> i; exists (\big[Num.max/0]_j `|Psi (x i) j|) => h hh; rewrite /at_sample; apply: hull_le hh.
    by apply: (big_ind (fun y => 0 <= y)) => // y z y0 z0; rewrite le_maxr y0.
  by move=> b; case: (k) => [[j ->]|k']; [exact: (le_bigmax _ (fun j => `|Psi (x i) j|)) | exact: acts_le].
have HF0 : HF (fun=> 0) by exact: hull_zero.
pose top s := expR (l * Sup HF (fun h => `|dot s (fun i => phi (h (x i)))|)).
have top_ub s h : HF h -> expR (l * `|dot s (fun i => phi (h (x i)))|) <= top s.
  move=> hh; rewrite ler_expR ler_pmul2l //; apply: (Sup_ub (f := fun h => `|dot s (fun i => phi (h (x i)))|)) => //.
  by apply: bounded_abs; apply: bounded_comp bd; exact: lip_bounded lip.
have Etop : E top <= c * E base.
  apply: le_trans (mgf_layer HF0 (fun h => @hull_opp R X _ h) bd l0 peel) _; rewrite ler_wpmul2l //.
  by apply: E_le => s; rewrite mulr1; apply: exp_Sup_le => //; [exists (fun=> 0) | exact: below].
exists (fun s => C s + top s); split=> [s _|s|s b [/Cb h|[h hh bE]]|].
- rewrite -[X in X <= _]add0r ler_add // /top -(expR0 R) ler_expR mulr_ge0 ?(ltW l0) //.
  have := top_ub s _ HF0; rewrite ler_expR ler_pmul2l //; exact: le_trans.
- by rewrite addr_ge0 // ltW // expR_gt0.
- by rewrite ler_paddr // ltW // expR_gt0.
- by rewrite ler_paddl // (eq_dot s (b := fun i => phi (h (x i)))) ?top_ub // => i; rewrite /at_sample bE.
- rewrite E_add; apply: le_trans (ler_add EC Etop) _; rewrite /base; case: (k) EC => [|k'] EC.
    by rewrite mul0r add0r expr0 mulr1.
  apply: le_trans (ler_add (lexx _) (ler_wpmul2l c0 EC)) _; rewrite exprS.
  by move: (E F) ((1 + c) ^+ k') => u y; rewrite le_eqVlt; apply/orP; left; apply/eqP; ring.
Qed.

Lemma class_moment k : E (fun s => expR (l * Sup (network_class k) (fun g => dot s (at_sample x g)))) <= A k * E F.
Proof.
have [C [_ C0 Cb EC]] := acts_moment k; apply: (@le_trans _ _ (E (fun s => F s + C s))); last first.
  by rewrite E_add /A mulrDl mul1r ler_add2l.
apply: E_le => s; apply: exp_Sup_le => // [|g hg]; first by exists (fun=> 0); exact: hull_zero.
apply: (@le_trans _ _ (expR (l * `|dot s (at_sample x g)|))); first by rewrite ler_expR ler_pmul2l // ler_norm.
apply: hull_exp hg => // [|b [bF|/Cb h]]; first by rewrite -[X in X <= _]addr0 ler_add.
- by apply: le_trans (featuresF s bF) _; rewrite ler_addl.
- by apply: le_trans (h s) _; rewrite ler_addr; exact: le_trans ler01 (F1 s).
Qed.
End Moments.

Lemma A_ge1 k : 1 <= A k.
Proof.
have c0 : 0 <= c by have [_ [o [g [al [_ [/andP[_ al1] <-]]]]]] := peel; rewrite subr_ge0 (le_trans al1) // ler1n.
by rewrite /A ler_addl; case: k => // k; rewrite mulr_ge0 // exprn_ge0 // addr_ge0 ?ler01.
Qed.
Theorem class_complexity m (x : 'I_m -> X) k r : (0 < m)%N -> 0 <= r -> (forall j, \sum_i Psi (x i) j ^+ 2 <= m%:R * r ^+ 2) ->
  Rad x (network_class k) <= r * Num.sqrt (2%:R * ln (2%:R * n0%:R * A k) / m%:R).
Proof.
move=> m0 r0 Pr; have mR : 0 < (m%:R : R) by rewrite ltr0n.
have N1 : 1 <= 2%:R * n0%:R :> R by rewrite -natrM ler1n muln_gt0.
have NA : 1 <= 2%:R * n0%:R * A k by rewrite -[X in X <= _]mulr1 ler_pmul ?ler01 ?A_ge1.
set L := ln _; have L0 : 0 <= L by rewrite ln_ge0.
have V0 : 0 <= m%:R * r ^+ 2 by rewrite mulr_ge0 ?ler0n ?sqr_ge0.
have main t : 0 < t -> t * (m%:R * Rad x (network_class k)) <= L + t ^+ 2 * (m%:R * r ^+ 2) / 2%:R.
  move=> t0; rewrite -ler_expR expRD lnK ?posrE ?(lt_le_trans ltr01 NA) //.
  rewrite /Rad mulVKf ?gt_eqF // -E_scale; apply: le_trans (Jensen _) _.
  apply: le_trans (class_moment x t0 k) _.
  have A0 : 0 <= A k by exact: le_trans ler01 (A_ge1 k).
  apply: le_trans (ler_wpmul2l A0 (mgf_features t Pr)) _; move: (A k) (_%:R) (expR _) => a b e.
  by rewrite le_eqVlt; apply/orP; left; apply/eqP; ring.
have le1 := sqrt_of_moment L0 V0 main; rewrite -(ler_pmul2l mR); apply: le_trans le1 _.
rewrite [X in Num.sqrt X]mulrA sqrtrM ?mulr_ge0 ?ler0n // sqrtr_sqr (ger0_norm r0).
have -> : 2%:R * L * m%:R = m%:R ^+ 2 * (2%:R * L / m%:R) by move: (gt_eqF mR) => hm; move: (m%:R : R) hm => M hm; field; rewrite hm.
rewrite sqrtrM ?sqr_ge0 // sqrtr_sqr (gtr0_norm mR) le_eqVlt; apply/orP; left; apply/eqP.
by rewrite -mulrA; congr (_ * _); rewrite mulrC.
Qed.
End Classes.
