(* Exponents p in [1, inf], p-norms, n^(1/q), Hölder. Own real powers: 0^a = 0, as n^(1/q) wants for n = 0. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From mathcomp.classical Require Import boolp mathcomp_extra.
From mathcomp.analysis Require Import reals sequences exp.
From AdaNet Require Import signs suprema exponential.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Powers.
Variable R : realType.
Implicit Types x y a b p q : R.
Definition powp x a : R := if x == 0 then 0 else expR (a * ln x).

Lemma powp0 a : powp 0 a = 0. Proof. by rewrite /powp eqxx. Qed.
Lemma powpE x a : 0 < x -> powp x a = expR (a * ln x).
Proof. by move=> x0; rewrite /powp gt_eqF. Qed.
Lemma powp_gt0 x a : 0 < x -> 0 < powp x a.
Proof. by move=> x0; rewrite powpE // expR_gt0. Qed.
Lemma powp_ge0 x a : 0 <= powp x a.
Proof. by rewrite /powp; case: ifP => // _; rewrite ltW // expR_gt0. Qed.
Lemma powpM x y a : 0 <= x -> 0 <= y -> powp (x * y) a = powp x a * powp y a.
Proof.
rewrite le_eqVlt => /predU1P[<-|x0]; first by rewrite mul0r powp0 mul0r.
rewrite le_eqVlt => /predU1P[<-|y0]; first by rewrite mulr0 powp0 mulr0.
by rewrite !powpE ?mulr_gt0 // lnM // mulrDr expRD.
Qed.
Lemma powp_powp x a b : 0 <= x -> powp (powp x a) b = powp x (a * b).
Proof.
rewrite le_eqVlt => /predU1P[<-|x0]; first by rewrite !powp0.
by rewrite (powpE _ (powp_gt0 _ x0)) !(powpE _ x0) expK mulrA [b * a]mulrC.
Qed.
Lemma powp1 x : 0 <= x -> powp x 1 = x.
Proof.
rewrite le_eqVlt => /predU1P[<-|x0]; first by rewrite powp0.
by rewrite powpE // mul1r lnK.
Qed.
Lemma powpD x a b : 0 <= x -> powp x (a + b) = powp x a * powp x b.
Proof.
rewrite le_eqVlt => /predU1P[<-|x0]; first by rewrite !powp0 mul0r.
by rewrite !powpE // mulrDl expRD.
Qed.
Lemma powp_1 a : powp 1 a = 1.
Proof. by rewrite powpE ?ltr01 // ln1 mulr0 expR0. Qed.
Lemma powp_x0 x : 0 < x -> powp x 0 = 1.
Proof. by move=> x0; rewrite powpE // mul0r expR0. Qed.
Lemma powpV x a : 0 <= x -> powp x^-1 a = (powp x a)^-1.
Proof.
rewrite le_eqVlt => /predU1P[<-|x0]; first by rewrite invr0 powp0 invr0.
by rewrite !powpE ?invr_gt0 // lnV // mulrN expRN.
Qed.
Lemma powp_le x y a : 0 <= a -> 0 <= x -> x <= y -> powp x a <= powp y a.
Proof.
move=> a0; rewrite le_eqVlt => /predU1P[<-|x0] xy; first by rewrite powp0 powp_ge0.
have y0 := lt_le_trans x0 xy.
by rewrite !powpE // ler_expR ler_wpmul2l // ler_ln.
Qed.
Lemma powp_eq0 x a : 0 <= x -> (powp x a == 0) = (x == 0).
Proof. by rewrite le_eqVlt => /predU1P[<-|x0]; rewrite ?powp0 ?eqxx // !gt_eqF ?powp_gt0. Qed.

Lemma young x y p q : 0 < p -> 0 < q -> p^-1 + q^-1 = 1 -> 0 <= x -> 0 <= y ->
  x * y <= p^-1 * powp x p + q^-1 * powp y q.
Proof.
move=> p0 q0 pq; have qE : q^-1 = 1 - p^-1 by rewrite -pq addrC addKr.
have t01 : 0 <= p^-1 <= 1 by rewrite invr_ge0 ltW //= -pq ler_addl invr_ge0 ltW.
rewrite le_eqVlt => /predU1P[<-|x0] y0.
  by rewrite mul0r powp0 mulr0 add0r mulr_ge0 ?powp_ge0 ?invr_ge0 ?ltW.
move: y0; rewrite le_eqVlt => /predU1P[<-|y0].
  by rewrite mulr0 powp0 mulr0 addr0 mulr_ge0 ?powp_ge0 ?invr_ge0 ?ltW.
have := expR_convex2 (p * ln x) (q * ln y) t01; rewrite -qE -!powpE //.
by rewrite !mulKf ?gt_eqF // expRD !lnK.
Qed.
End Powers.

Inductive exponent (R : realType) := Finite (p : R) of 1 <= p | Infinite.
Arguments Infinite {R}.

Section Norms.
Variable R : realType.
Implicit Types (p q : exponent R) (n : nat).

(* 1/p + 1/q = 1 *)
Definition conjugate p q : Prop :=
  match p, q with
  | Finite a _, Finite b _ => a^-1 + b^-1 = 1
  | Finite a _, Infinite => a = 1
  | Infinite, Finite b _ => b = 1
  | Infinite, Infinite => False
  end.
Definition norm p n (u : 'I_n -> R) : R :=
  match p with Finite a _ => powp (\sum_t powp `|u t| a) a^-1 | Infinite => \big[Num.max/0]_t `|u t| end.
(* n^(1/q) and n^(-1/p) in terms of p *)
Definition root_q p n : R := match p with Finite a _ => powp n%:R (1 - a^-1) | Infinite => n%:R end.
Definition inv_root_p p n : R := match p with Finite a _ => powp n%:R (- a^-1) | Infinite => 1 end.

Lemma conjugateC p q : conjugate p q -> conjugate q p.
Proof. by case: p q => [a ?|] [b ?|] //=; rewrite addrC. Qed.
Lemma conjugate_exists p : exists q, conjugate p q.
Proof.
case: p => [a a1|]; last by exists (Finite (lexx 1)).
have [a11|an1] := eqVneq a 1; first by exists Infinite.
have a0 : 0 < a := lt_le_trans ltr01 a1.
have i1 : 0 < 1 - a^-1 by rewrite subr_gt0 invf_lt1 // lt_def an1.
have b1 : 1 <= (1 - a^-1)^-1 by rewrite invf_ge1 // ler_subl_addr ler_addl invr_ge0 ltW.
by exists (Finite b1); rewrite /= invrK addrC subrK.
Qed.

Lemma norm_ge0 p n (u : 'I_n -> R) : 0 <= norm p u.
Proof. by case: p => [a ?|] /=; rewrite ?powp_ge0 //; elim/big_ind: _ => // x y x0 y0; rewrite le_maxr x0. Qed.
Lemma sum_powp_ge0 n (u : 'I_n -> R) a : 0 <= \sum_t powp `|u t| a.
Proof. by apply: sumr_ge0 => t _; exact: powp_ge0. Qed.
Lemma le_norm p n (u v : 'I_n -> R) : (forall t, `|u t| <= `|v t|) -> norm p u <= norm p v.
Proof.
move=> uv; case: p => [a a1|] /=; last by apply: le_bigmax2 => t _.
have a0 : 0 <= a := le_trans ler01 a1.
apply: powp_le; rewrite ?invr_ge0 ?sum_powp_ge0 //; apply: ler_sum => t _; exact: powp_le.
Qed.
Lemma eq_norm p n (u v : 'I_n -> R) : (forall t, `|u t| = `|v t|) -> norm p u = norm p v.
Proof. by move=> uv; apply/eqP; rewrite eq_le !le_norm // => t; rewrite uv. Qed.
Lemma norm_scale p n (u : 'I_n -> R) (c : R) : norm p (fun t => c * u t) = `|c| * norm p u.
Proof.
case: p => [a a1|] /=.
  have a0 : 0 < a := lt_le_trans ltr01 a1.
  rewrite (eq_bigr (fun t => powp `|c| a * powp `|u t| a)); last by move=> t _; rewrite normrM powpM.
  by rewrite -mulr_sumr powpM ?powp_ge0 ?sum_powp_ge0 // powp_powp // divff ?gt_eqF // powp1.
apply: (big_ind2 (fun x y => x = `|c| * y)) => [|x1 x2 y1 y2 -> ->|t _].
- by rewrite mulr0.
- by rewrite maxr_pmulr.
- by rewrite normrM.
Qed.
Lemma norm0 p n : norm p (fun _ : 'I_n => 0) = 0.
Proof. by have := norm_scale p (fun _ : 'I_n => 0) 0; rewrite normr0 mul0r mul0r. Qed.
Lemma normN p n (u : 'I_n -> R) : norm p (fun t => - u t) = norm p u.
Proof. by apply: eq_norm => t; rewrite normrN. Qed.
Lemma norm_eq0 p n (u : 'I_n -> R) : norm p u = 0 -> forall t, u t = 0.
Proof.
case: p => [a a1|] /=.
  move/eqP; rewrite powp_eq0 ?sum_powp_ge0 // psumr_eq0; last by move=> *; exact: powp_ge0.
  by move=> /allP h t; have := h t (mem_index_enum _); rewrite powp_eq0 // normr_eq0 => /eqP.
by move=> e t; apply/eqP; rewrite -normr_le0 -e; apply: (le_bigmax _ (fun t => `|u t|)).
Qed.
Lemma root_q_ge0 p n : 0 <= root_q p n.
Proof. by case: p => [a ?|] /=; rewrite ?powp_ge0 ?ler0n. Qed.
Lemma root_q_gt0 p n : (0 < n)%N -> 0 < root_q p n.
Proof. by move=> n0; case: p => [a ?|] /=; rewrite ?powp_gt0 ?ltr0n. Qed.
Lemma inv_root_p_ge0 p n : 0 <= inv_root_p p n.
Proof. by case: p => [a ?|] /=; [exact: powp_ge0 | exact: ler01]. Qed.
Lemma mul_inv_root_p p n : n%:R * inv_root_p p n = root_q p n.
Proof. by case: p => [a ?|] /=; [rewrite powpD ?ler0n // powp1 ?ler0n | rewrite mulr1]. Qed.

(* n equal entries *)
Lemma norm_equal p n (c : R) : 0 <= c -> norm p (fun _ : 'I_n => c * inv_root_p p n) <= c.
Proof.
move=> c0; rewrite norm_scale ger0_norm //; apply: ler_pimulr => //.
case: p => [a a1|] /=; last by apply: bigmax_le => [|t _]; rewrite ?ler01 // normr1.
have a0 : 0 < a := lt_le_trans ltr01 a1.
case: n => [|n]; first by rewrite big_ord0 powp0 ler01.
rewrite sumr_const card_ord ger0_norm ?powp_ge0 // powp_powp ?ler0n // mulNr mulVf ?gt_eqF //.
by rewrite (@powpE _ n.+1%:R) ?ltr0n // mulN1r expRN lnK ?posrE ?ltr0n // -[_ *+ _]mulr_natr mulVf ?pnatr_eq0 // powp_1.
Qed.

Lemma norm_powp a (a1 : 1 <= a) n (u : 'I_n -> R) : \sum_t powp `|u t| a = powp (norm (Finite a1) u) a.
Proof.
have a0 : 0 < a := lt_le_trans ltr01 a1.
by rewrite /= powp_powp ?sum_powp_ge0 // mulVf ?gt_eqF // powp1 ?sum_powp_ge0.
Qed.

Theorem hoelder p q n (u v : 'I_n -> R) : conjugate p q -> \sum_t `|u t| * `|v t| <= norm p u * norm q v.
Proof.
wlog: p q u v / (if p is Finite _ _ then true else false) => [W pq|].
  case: p q pq => [a a1|] [b b1|] pq //; try exact: W.
  have := W (Finite b1) Infinite v u isT (conjugateC (p := Infinite) pq); rewrite mulrC => h.
  by apply: le_trans h; rewrite le_eqVlt; apply/orP; left; apply/eqP/eq_bigr => t _; rewrite mulrC.
case: p q => [a a1|//] [b b1|] _ pq; last first.
  rewrite /= in pq *; rewrite pq invr1 powp1 ?sum_powp_ge0 // mulr_suml; apply: ler_sum => t _.
  by rewrite powp1 // ler_wpmul2l //; apply: (le_bigmax _ (fun t => `|v t|)).
have one c (c1 : 1 <= c) (w : 'I_n -> R) : norm (Finite c1) w != 0 -> \sum_t powp (`|w t| / norm (Finite c1) w) c = 1.
  move=> w0; set W := norm _ w in w0 *; have W0 : 0 <= W by exact: norm_ge0.
  rewrite (eq_bigr (fun t => powp `|w t| c * (powp W c)^-1)); last by move=> t _; rewrite powpM ?invr_ge0 // powpV.
  by rewrite -mulr_suml norm_powp divff // powp_eq0.
have a0 : 0 < a := lt_le_trans ltr01 a1; have b0 : 0 < b := lt_le_trans ltr01 b1.
have := one _ a1 u; have := one _ b1 v; set U := norm _ u; set V := norm _ v => oneV oneU.
have [U0|U0] := eqVneq U 0.
  by rewrite U0 mul0r big1 // => t _; rewrite (norm_eq0 U0) normr0 mul0r.
have [V0|V0] := eqVneq V 0.
  by rewrite V0 mulr0 big1 // => t _; rewrite (norm_eq0 V0) normr0 mulr0.
have Up : 0 < U by rewrite lt_def U0 norm_ge0.
have Vp : 0 < V by rewrite lt_def V0 norm_ge0.
have key : \sum_t (`|u t| / U) * (`|v t| / V) <= 1.
  apply: (@le_trans _ _ (\sum_t (a^-1 * powp (`|u t| / U) a + b^-1 * powp (`|v t| / V) b))).
    by apply: ler_sum => t _; apply: (young a0 b0 pq); apply: divr_ge0; rewrite ?normr_ge0 ?norm_ge0.
  have lin2 (X Y : 'I_n -> R) : \sum_t X t = 1 -> \sum_t Y t = 1 -> \sum_t (a^-1 * X t + b^-1 * Y t) = 1.
    by move=> hX hY; rewrite big_split /= -!mulr_sumr hX hY !mulr1 [LHS]pq.
  by rewrite (lin2 _ _ (oneU U0) (oneV V0)).
have UV : 0 < U * V by rewrite mulr_gt0.
have -> : \sum_t `|u t| * `|v t| = U * V * \sum_t (`|u t| / U) * (`|v t| / V).
  clear key oneU oneV Up Vp UV; clearbody U V; rewrite mulr_sumr; apply: eq_bigr => t _; move: `|u t| `|v t| => x y.
  by field; rewrite U0 V0.
by rewrite ler_pimulr // ltW.
Qed.

Lemma norm_one p q n : conjugate p q -> norm q (fun _ : 'I_n => 1) = root_q p n.
Proof.
case: p q => [a a1|] [b b1|] //= pq.
- by rewrite (eq_bigr (fun=> 1)) => [|t _]; rewrite ?normr1 ?powp_1 // sumr_const card_ord -pq addrAC subrr add0r.
- rewrite pq invr1 subrr; case: n => [|n]; first by rewrite big_ord0 powp0.
  rewrite powp_x0 ?ltr0n //; apply/eqP; rewrite eq_le; apply/andP; split.
    by apply: bigmax_le => [|t _]; rewrite ?ler01 // normr1.
  by rewrite -[X in X <= _]normr1; apply: (le_bigmax _ (fun=> `|1|) ord0).
- rewrite pq (eq_bigr (fun=> 1)) => [|t _]; rewrite ?normr1 ?powp_1 // sumr_const card_ord invr1 powp1 //.
  exact: ler0n.
Qed.

(* Σ_t |u_t| <= n^(1/q) ||u||_p: all that lemma-1-exact needs of duality *)
Theorem power_mean p n (u : 'I_n -> R) : \sum_t `|u t| <= root_q p n * norm p u.
Proof.
have [q pq] := conjugate_exists p; have := hoelder u (fun=> 1) pq.
by rewrite (norm_one _ pq) mulrC (eq_bigr (fun t => `|u t|)) // => t _; rewrite normr1 mulr1.
Qed.
Lemma norm_dot_le p n (u z : 'I_n -> R) (L K : R) : norm p u <= L -> (forall t, `|z t| <= K) -> 0 <= K ->
  `|\sum_t u t * z t| <= L * root_q p n * K.
Proof.
move=> uL zK K0; apply: le_trans (ler_norm_sum _ _ _) _.
apply: (@le_trans _ _ (\sum_t `|u t| * K)); first by apply: ler_sum => t _; rewrite normrM ler_wpmul2l.
rewrite -mulr_suml ler_wpmul2r //; apply: le_trans (power_mean p u) _.
by rewrite mulrC ler_wpmul2r // root_q_ge0.
Qed.
Lemma hoelder_abs p q n (u v : 'I_n -> R) : conjugate p q -> `|\sum_t u t * v t| <= norm p u * norm q v.
Proof.
move=> pq; apply: le_trans (ler_norm_sum _ _ _) _; apply: le_trans (hoelder u v pq).
by apply: ler_sum => t _; rewrite normrM.
Qed.
End Norms.
