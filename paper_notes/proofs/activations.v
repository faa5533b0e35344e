(* What an activation costs. In lemma-1-corrected: φ - φ(0) = o + g, o odd, costs c = Lip(o) + 2 Lip(g).
   In lemma-2-peeled: φ/L = α o + (1-α) g, o odd, both 1-Lipschitz and 0 at 0, costs e = 2 - α. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From mathcomp.classical Require Import boolp.
From mathcomp.analysis Require Import reals sequences exp.
From AdaNet Require Import signs exponential.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Activations.
Variable R : realType.
Implicit Types (phi o g : R -> R) (a b c e L x y : R).

Definition relu x : R := Num.max x 0.
Definition leaky a x : R := if 0 <= x then x else a * x.
Definition sigmoid x : R := (1 + expR (- x))^-1.
Definition slopes a b phi := forall x y, x <= y -> a * (y - x) <= phi y - phi x <= b * (y - x).

Definition splits phi c := exists o g (L1 L2 : R),
  [/\ forall x, phi x = phi 0 + o x + g x, odd_fun o, g 0 = 0, lipschitz L1 o & lipschitz L2 g] /\ L1 + 2%:R * L2 = c.
Definition peels phi L e := 0 < L /\ exists o g (alpha : R),
  [/\ forall x, phi x = L * (alpha * o x + (1 - alpha) * g x), odd_fun o, g 0 = 0, lipschitz 1 o & lipschitz 1 g] /\
  0 <= alpha <= 1 /\ 2%:R - alpha = e.

Lemma splits_bounded phi c : splits phi c -> locally_bounded phi.
Proof.
move=> [o [g [L1 [L2 [[E _ _ lo lg] _]]]]]; apply: (@lip_bounded _ (L1 + L2)) => x y; rewrite (E x) (E y) mulrDl.
rewrite (_ : _ - _ = (o x - o y) + (g x - g y)); last by move: (phi 0) (o x) (g x) (o y) (g y) => *; ring.
by apply: le_trans (ler_norm_add _ _) _; exact: ler_add.
Qed.
Lemma peels_lipschitz phi L e : peels phi L e -> lipschitz L phi.
Proof.
move=> [L0 [o [g [al [[E _ _ lo lg] [/andP[a0 a1] _]]]]]] x y; rewrite !E -mulrBr normrM (gtr0_norm L0) ler_pmul2l //.
have a1' : 0 <= 1 - al by rewrite subr_ge0.
rewrite (_ : _ - _ = al * (o x - o y) + (1 - al) * (g x - g y)); last by move: (o x) (o y) (g x) (g y) => *; ring.
apply: le_trans (ler_norm_add _ _) _; rewrite !normrM (ger0_norm a0) (ger0_norm a1').
have h1 := lo x y; have h2 := lg x y; rewrite mul1r in h1; rewrite mul1r in h2.
apply: le_trans (ler_add (ler_wpmul2l a0 h1) (ler_wpmul2l a1' h2)) _.
by rewrite -mulrDl addrCA subrr addr0 mul1r.
Qed.
Lemma peels_0 phi L e : peels phi L e -> phi 0 = 0.
Proof. by move=> [_ [o [g [al [[-> oo g0 _ _] _]]]]]; rewrite g0 (odd0 oo) !mulr0 addr0 mulr0. Qed.
Lemma peels_bounded phi L e : peels phi L e -> locally_bounded phi.
Proof. by move/peels_lipschitz/lip_bounded. Qed.

(* the three splits *)
Lemma splits_lipschitz phi L : lipschitz L phi -> splits phi (2%:R * L).
Proof.
move=> lip; exists (fun=> 0), (fun x => phi x - phi 0), 0, L; split; last by rewrite add0r.
split=> [x|x||x y|x y]; rewrite ?subrr ?oppr0 ?normr0 ?mul0r //; first by move: (phi x) (phi 0) => *; ring.
by rewrite opprB addrA subrK.
Qed.
Lemma splits_odd phi L : lipschitz L phi -> odd_fun phi -> splits phi L.
Proof.
move=> lip od; exists phi, (fun=> 0), L, 0; split; last by rewrite mulr0 addr0.
split=> // [x|x y]; first by rewrite (odd0 od) add0r addr0.
by rewrite subrr normr0 mul0r.
Qed.
Lemma half_lip a b phi : slopes a b phi ->
  lipschitz ((b - a) / 2%:R) (fun x => phi x - phi 0 - (a + b) / 2%:R * x).
Proof.
have two : (2%:R : R) != 0 by rewrite pnatr_eq0.
move=> sl; apply: lip_ordered => x y xy; have /andP[l u] := sl _ _ xy.
rewrite ler_norml; apply/andP; split; move: (phi x) (phi y) (phi 0) l u => X Y Z l u.
- by apply: (le_by l); field.
- by apply: (le_by u); field.
Qed.
Lemma splits_slopes phi a b : slopes a b phi -> splits phi (`|a + b| / 2%:R + (b - a)).
Proof.
move=> sl; have two : (2%:R : R) != 0 by rewrite pnatr_eq0.
exists (fun x => (a + b) / 2%:R * x), (fun x => phi x - phi 0 - (a + b) / 2%:R * x), (`|a + b| / 2%:R), ((b - a) / 2%:R).
split; last by rewrite [2%:R * _]mulrC divfK.
split=> [x|x|||].
- by move: (phi x) (phi 0) => *; ring.
- by rewrite mulrN.
- by rewrite mulr0 subrr subr0.
- by have := @lip_scale R ((a + b) / 2%:R); rewrite normrM normfV [`|2%:R|]ger0_norm ?ler0n.
- exact: half_lip.
Qed.

(* α = 1 for odd φ, 0 for any other; |a+b|/2 with slopes in [a, b] and |a+b|/2 + (b-a)/2 = L = 1 *)
Lemma peels_odd phi L : 0 < L -> lipschitz L phi -> odd_fun phi -> peels phi L 1.
Proof.
move=> L0 lip od; split=> //; exists (fun x => L^-1 * phi x), (fun=> 0), 1; split; last first.
  by rewrite ler01 lexx; split=> //; ring.
split=> // [x|x|x y|x y].
- by rewrite subrr mul0r addr0 mul1r mulrA divff ?mul1r ?gt_eqF.
- by rewrite od mulrN.
- by rewrite -mulrBr normrM ger0_norm ?invr_ge0 ?(ltW L0) // mul1r ler_pdivr_mull.
- by rewrite subrr normr0 mul1r.
Qed.
Lemma peels_any phi L : 0 < L -> lipschitz L phi -> phi 0 = 0 -> peels phi L 2%:R.
Proof.
move=> L0 lip p0; split=> //; exists (fun=> 0), (fun x => L^-1 * phi x), 0; split; last first.
  by rewrite ler01 lexx; split=> //; rewrite subr0.
split=> [x|x||x y|x y].
- by rewrite mul0r add0r subr0 mul1r mulrA divff ?mul1r ?gt_eqF.
- by rewrite oppr0.
- by rewrite p0 mulr0.
- by rewrite subrr normr0 mul1r.
- by rewrite -mulrBr normrM ger0_norm ?invr_ge0 ?(ltW L0) // mul1r ler_pdivr_mull.
Qed.
Lemma peels_slopes phi a : `|a| <= 1 -> slopes a 1 phi -> phi 0 = 0 -> peels phi 1 ((3%:R - a) / 2%:R).
Proof.
move=> /ler_normlP[a1 a1'] sl p0; have two : (2%:R : R) != 0 by rewrite pnatr_eq0.
have two0 : (0 : R) < 2%:R by rewrite ltr0n.
have ha : - a <= 1 by []; pose al := (a + 1) / 2%:R.
have al0 : 0 <= al by rewrite divr_ge0 ?ler0n // -ler_subl_addl sub0r.
have al1 : al <= 1 by rewrite ler_pdivr_mulr // mul1r mulr2n ler_add2r.
split; first exact: ltr01.
pose g x := (1 - al)^-1 * (phi x - phi 0 - al * x).
exists id, (if al == 1 then fun=> 0 else g), al; split; last first.
  by rewrite al0 al1; split=> //; rewrite /al; field.
have hl := half_lip sl; rewrite (_ : (1 - a) / 2%:R = 1 - al) in hl; last by rewrite /al; field.
have lip0 : al = 1 -> forall x, phi x = x.
  move=> e x; have := hl x 0; rewrite e subrr mul0r normr_le0 mulr0 subrr subr0 p0 subr0 -/al e mul1r subr0 subr_eq0.
  by move/eqP.
have [e|ne] := eqVneq al 1.
  split=> // [x|x y|x y]; first by rewrite e subrr mul0r addr0 !mul1r lip0.
  - by rewrite mul1r.
  - by rewrite subrr normr0 mul1r.
have d0 : 0 < 1 - al by rewrite subr_gt0 lt_def eq_sym ne.
have d1 : 1 - al != 0 by rewrite gt_eqF.
split=> // [x|||].
- by rewrite /g p0 mul1r subr0 mulrA divff // mul1r addrC subrK.
- by rewrite /g p0 mulr0 !subr0 mulr0.
- by move=> x y; rewrite mul1r.
- move=> x y; rewrite /g -mulrBr normrM ger0_norm ?invr_ge0 ?(ltW d0) // mul1r ler_pdivr_mull //; exact: hl.
Qed.

Lemma slopes_leaky a : a <= 1 -> slopes a 1 (leaky a).
Proof.
move=> a1 x y xy; rewrite /leaky mul1r; have c0 : 0 <= 1 - a by rewrite subr_ge0.
have yx : 0 <= y - x by rewrite subr_ge0.
case: (leP 0 x) => x0; case: (leP 0 y) => y0.
- by rewrite lexx andbT ler_pimull.
- by have := le_lt_trans x0 (le_lt_trans xy y0); rewrite ltxx.
- have x0' : 0 <= - x by rewrite oppr_ge0 ltW.
  apply/andP; split; first by apply: (le_by (mulr_ge0 c0 y0)); ring.
  by apply: (le_by (mulr_ge0 c0 x0')); ring.
- by rewrite -mulrBr lexx /= ler_pimull.
Qed.
Lemma leaky0 a : leaky a 0 = 0. Proof. by rewrite /leaky lexx. Qed.
Lemma reluE x : relu x = leaky 0 x.
Proof. by rewrite /relu /leaky mul0r; case: (leP 0 x). Qed.
Lemma slopes_relu : slopes 0 1 relu.
Proof. by move=> x y xy; rewrite !reluE; exact: (slopes_leaky ler01). Qed.
Lemma relu0 : relu 0 = 0. Proof. by rewrite reluE leaky0. Qed.

Lemma splits_relu : splits relu (3%:R / 2%:R).
Proof.
rewrite (_ : 3%:R / 2%:R = `|0 + 1 : R| / 2%:R + (1 - 0)); first exact: splits_slopes slopes_relu.
by rewrite add0r normr1 subr0; field.
Qed.
Lemma splits_leaky a : `|a| <= 1 -> splits (leaky a) ((3%:R - a) / 2%:R).
Proof.
move=> /ler_normlP[a1 a1']; have := splits_slopes (slopes_leaky a1').
rewrite ger0_norm; last by rewrite -ler_subl_addl sub0r.
by rewrite (_ : _ / 2%:R + _ = (3%:R - a) / 2%:R) //; field.
Qed.
Lemma peels_leaky a : `|a| <= 1 -> peels (leaky a) 1 ((3%:R - a) / 2%:R).
Proof. by move=> a1; apply: peels_slopes => //; [apply: slopes_leaky; case/ler_normlP: a1 | exact: leaky0]. Qed.
Lemma peels_relu : peels relu 1 (3%:R / 2%:R).
Proof.
have a1 : `|0 : R| <= 1 by rewrite normr0 ler01.
by have := peels_slopes a1 slopes_relu relu0; rewrite subr0.
Qed.

Lemma sigmoid0 : sigmoid 0 = 2%:R^-1. Proof. by rewrite /sigmoid oppr0 expR0. Qed.
End Activations.
