(* adanet-comparison: the printed test F(w, h') <= F(w', h'), where w' minimises F(., h'), is true in ties only; so it takes h' also where h is better. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From mathcomp.analysis Require Import reals.
From AdaNet Require Import signs contraction surrogates.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Theorem adanet_comparison_ties (R : realType) (W Hyp : Type) (F : W -> Hyp -> R) (w w' : W) (h' : Hyp) :
  (forall u, F w' h' <= F u h') -> (F w h' <= F w' h') = (F w h' == F w' h').
Proof. by move=> best; rewrite eq_le best andbT. Qed.

(* one point y = 1, f = 0, the hinge; h(x) = 1 with Γ = 1/2, the deeper h'(x) = 1/2 with Γ' = 3/4 *)
Section Example.
Variable R : realType.
Definition hinge (u : R) : R := Num.max 0 u.
Lemma hinge_convex : convex hinge.
Proof.
move=> t x y /andP[t0 t1]; have t1' : 0 <= 1 - t by rewrite subr_ge0.
have h (z : R) : 0 <= hinge z /\ z <= hinge z by rewrite /hinge !le_maxr !lexx orbT.
have [[hx0 hx] [hy0 hy]] := (h x, h y); rewrite {1}/hinge le_maxl addr_ge0 ?mulr_ge0 //=.
by rewrite ler_add // ler_wpmul2l.
Qed.
Lemma hinge_nondecreasing : nondecreasing hinge.
Proof. by move=> x y xy; rewrite /hinge le_maxl !le_maxr lexx xy orbT. Qed.
Definition step (Gam h w : R) : R := objective hinge (fun _ : 'I_1 => 1) (fun=> 0) (fun _ (_ : 'I_1) => h) Gam w (fun=> 1).

Lemma stepE Gam h w : step Gam h w = hinge (1 - w * h) + Gam * `|w|.
Proof. by rewrite /step /objective /unit_at !big_ord1 invr1 !mul1r add0r. Qed.
Theorem adanet_comparison_example : exists w w' : R,
  [/\ forall u, step 2%:R^-1 1 w <= step 2%:R^-1 1 u, forall u, step (3%:R / 4%:R) 2%:R^-1 w' <= step (3%:R / 4%:R) 2%:R^-1 u,
      step 2%:R^-1 1 w < step (3%:R / 4%:R) 2%:R^-1 w' & ~ (step (3%:R / 4%:R) 2%:R^-1 w <= step (3%:R / 4%:R) 2%:R^-1 w')].
Proof.
have two : (2%:R : R) != 0 by rewrite pnatr_eq0.
have half0 : 0 < 2%:R^-1 :> R by rewrite invr_gt0 ltr0n.
have lo (z : R) : 0 <= hinge z /\ z <= hinge z by rewrite /hinge !le_maxr !lexx orbT.
have e1 : step 2%:R^-1 1 1 = 2%:R^-1 by rewrite stepE mulr1 subrr /hinge maxxx add0r normr1 mulr1.
have e2 : step (3%:R / 4%:R) 2%:R^-1 0 = 1 by rewrite stepE mul0r subr0 /hinge normr0 mulr0 addr0 max_r // ler01.
have e3 : step (3%:R / 4%:R) 2%:R^-1 1 = 5%:R / 4%:R.
  rewrite stepE mul1r normr1 mulr1 /hinge max_r; last by rewrite subr_ge0 invf_le1 ?ltr0n // ler1n.
  by field.
exists 1, 0; rewrite e1 e2 e3; split=> [u|u||].
- rewrite stepE mulr1; have [h1 h2] := lo (1 - u); have [u1|u1] := leP 1 u.
    by rewrite -[X in X <= _]add0r ler_add // -{1}[2%:R^-1]mulr1 ler_pmul2l // (le_trans u1) // ler_norm.
  have h3 := ler_norm u; have g : 0 <= 1 - u by rewrite subr_ge0 ltW.
  have h4 := ler_wpmul2l (ltW half0) h3; have h5 := ler_wpmul2l (ltW half0) g.
  move: (hinge _) `|u| h2 h4 => b v h2 h4; by apply: (le_by (ler_add (ler_add h2 h4) h5)); field.
- rewrite stepE; have [_ h2] := lo (1 - u * 2%:R^-1); have h3 := ler_norm u; have h0 := normr_ge0 u.
  have h4 := ler_wpmul2l (ltW half0) h3; have q0 : 0 <= 4%:R^-1 :> R by rewrite invr_ge0 ler0n.
  have h5 := ler_wpmul2l q0 h0; move: (hinge _) `|u| h2 h4 h5 => b v h2 h4 h5.
  by apply: (le_by (ler_add h2 (ler_add h4 h5))); field.
- by rewrite invf_lt1 ?ltr0n // ltr1n.
- by apply/negP; rewrite -ltNge ltr_pdivl_mulr ?ltr0n // mul1r ltr_nat.
Qed.
End Example.
