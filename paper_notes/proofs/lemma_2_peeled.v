(* lemma-2-peeled: R_S(H_k) <= r_rms P_k sqrt(2 [log 2n_0 + log D_k]/m), no power of 2 in the depth. φ(0) = 0. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From mathcomp.classical Require Import boolp classical_sets mathcomp_extra.
From mathcomp.analysis Require Import reals sequences exp.
From AdaNet Require Import signs suprema contraction exponential norms activations families recursions lemma_1_exact.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.

Section Definitions.
Variables (R : realType) (N : net R) (L e : nat -> R).
Definition P : nat -> R :=
  sums (Lam N 1 0 * root_q (p N) (n N 0)) (fun k s Ps => Lam N k s * root_q (p N) (n N s) * L s * Ps).
(* π_s = Λ_{k,s} n_s^(1/q) L_s P_s / P_k *)
Definition share k s : R := Lam N k s * root_q (p N) (n N s) * L s * P s / P k.
Definition D : nat -> R := sums 1 (fun k s Ds => share k s * (e s * Ds)).
Lemma P1 : P 1 = Lam N 1 0 * root_q (p N) (n N 0). Proof. exact: sums1. Qed.
Lemma PE k : (1 < k)%N -> P k = \sum_(1 <= s < k) Lam N k s * root_q (p N) (n N s) * L s * P s.
Proof. exact: sumsE. Qed.
Lemma D1 : D 1 = 1. Proof. exact: sums1. Qed.
Lemma DE k : (1 < k)%N -> D k = \sum_(1 <= s < k) share k s * (e s * D s). Proof. exact: sumsE. Qed.
End Definitions.

(* r_rms, and the moment of the features: Σ_j E e^(t|Σσ_iΨ_j(x_i)|) <= 2n_0 e^(t²r²m/2) *)
Section Features.
Variables (R : realType) (X : Type) (n0 : nat) (Psi : X -> 'I_n0 -> R) (m : nat) (x : 'I_m -> X).
Definition r_rms : R := \big[Num.max/0]_j Num.sqrt ((\sum_i Psi (x i) j ^+ 2) / m%:R).

Lemma r_rms_ge0 : 0 <= r_rms.
Proof. by apply: (big_ind (fun y => 0 <= y)) => // [a b a0 b0|j _]; [rewrite le_maxr a0 | exact: sqrtr_ge0]. Qed.
Lemma r_rmsP j : (0 < m)%N -> \sum_i Psi (x i) j ^+ 2 <= m%:R * r_rms ^+ 2.
Proof.
move=> m0; have mR : 0 < (m%:R : R) by rewrite ltr0n.
have s0 : 0 <= \sum_i Psi (x i) j ^+ 2 by apply: sumr_ge0 => i _; exact: sqr_ge0.
rewrite mulrC -ler_pdivr_mulr // -[X in X <= _]sqr_sqrtr ?divr_ge0 ?ler0n //.
rewrite ler_expn2r ?nnegrE ?sqrtr_ge0 ?r_rms_ge0 //.
exact: (le_bigmax _ (fun j => Num.sqrt ((\sum_i Psi (x i) j ^+ 2) / m%:R))).
Qed.
Lemma mgf_features t r : (forall j, \sum_i Psi (x i) j ^+ 2 <= m%:R * r ^+ 2) ->
  E (fun s => \sum_j expR (t * `|dot s (fun i => Psi (x i) j)|)) <= 2%:R * n0%:R * expR (t ^+ 2 * (m%:R * r ^+ 2) / 2%:R).
Proof.
move=> Pr; rewrite E_sum.
apply: (@le_trans _ _ (\sum_(j < n0) 2%:R * expR (t ^+ 2 * (m%:R * r ^+ 2) / 2%:R))).
  apply: ler_sum => j _; apply: le_trans (mgf_abs_le _ _) _; rewrite ler_pmul2l ?ltr0n // ler_expR.
  by rewrite ler_pmul2r ?invr_gt0 ?ltr0n // ler_wpmul2l ?sqr_ge0.
by rewrite sumr_const card_ord -[_ *+ _]mulr_natl mulrA [_ * 2%:R]mulrC.
Qed.
End Features.

(* t = X/V is the best t *)
Lemma sqrt_of_moment (R : realType) (A V X : R) : 0 <= A -> 0 <= V ->
  (forall t, 0 < t -> t * X <= A + t ^+ 2 * V / 2%:R) -> X <= Num.sqrt (2%:R * A * V).
Proof.
move=> A0 V0 h; have two : (2%:R : R) != 0 by rewrite pnatr_eq0.
have [X0|X0] := leP X 0; first exact: le_trans X0 (sqrtr_ge0 _).
have [V1|V1] := eqVneq V 0.
  have := h ((A + 1) / X); rewrite divr_gt0 ?ltr_paddl ?ltr01 // V1 mulr0 mul0r addr0 divfK ?gt_eqF //.
  by move/(_ isT); rewrite ger_addl leNgt ltr01.
have Vp : 0 < V by rewrite lt_def V1.
have := h (X / V); rewrite divr_gt0 // => /(_ isT) le1.
have le2 : X ^+ 2 <= 2%:R * A * V.
  have := ler_wpmul2r (ltW Vp) le1; rewrite (_ : X / V * X * V = X ^+ 2); last by field.
  rewrite (_ : (A + (X / V) ^+ 2 * V / 2%:R) * V = A * V + X ^+ 2 / 2%:R); last by field; rewrite V1.
  by move=> le3; apply: (le_by (ler_add le3 le3)); field.
by rewrite -[X](ger0_norm (ltW X0)) -sqrtr_sqr ler_wsqrtr.
Qed.

(* one layer: E e^(l sup|Σσφ(h)|) <= e E e^(lL sup|Σσh|) *)
Section Layer.
Variables (R : realType) (X : Type) (m : nat) (x : 'I_m -> X) (F : set (X -> R)).
Hypotheses (F0 : F (fun=> 0)) (Fneg : forall h, F h -> F (fun y => - h y)) (bF : bounded_at F (at_sample x)).
Let Fne : F !=set0. Proof. by exists (fun=> 0). Qed.
Local Notation S psi s := (Sup F (fun h => dot s (fun i => psi (h (x i))))).
Local Notation Sabs s := (Sup F (fun h => `|dot s (at_sample x h)|)).

Lemma mgf_contraction (l : R) (psi : R -> R) : 0 <= l -> lipschitz 1 psi -> psi 0 = 0 ->
  E (fun s : signs m => expR (l * S psi s)) <= E (fun s => expR (l * Sabs s)).
Proof.
move=> l0 lip p0; have bp := bounded_comp (lip_bounded lip) bF.
have g0 : bounded_on F (fun=> 0 : R) by exists 0.
have := @contraction_convex_coordinates R m _ F Fne (fun=> 0) (fun h i => psi (h (x i))) (at_sample x) g0 bp bF _ _
  (convex_expR l) (nondecreasing_expR l0) _.
move=> h; apply: (@le_trans _ _ (E (fun s : signs m => expR (l * Sup F (lin (fun=> 0) (fun h i => psi (h (x i))) s))))).
  apply: E_le => s; rewrite (eq_Sup (g := lin (fun=> 0) (fun h i => psi (h (x i))) s)) // => t _; by rewrite /lin add0r.
apply: le_trans (h _ _) _ => [j a b _ _|j a _|].
- by have := lip (a (x j)) (b (x j)); rewrite mul1r.
- by have := lip (a (x j)) 0; rewrite p0 !subr0 mul1r.
apply: E_le => s; rewrite ler_expR ler_wpmul2l //; apply: Sup_mono => // [|t _]; first exact: bounded_abs.
by rewrite /lin add0r ler_norm.
Qed.

Theorem mgf_layer (l L e : R) (phi : R -> R) : 0 < l -> peels phi L e ->
  E (fun s : signs m => expR (l * Sup F (fun h => `|dot s (fun i => phi (h (x i)))|))) <= e * E (fun s => expR (l * L * Sabs s)).
Proof.
move=> l0 [L0 [o [g [al [[phiE od g0 lo lg] [/andP[al0 al1] <-]]]]]].
have lL : 0 < l * L by rewrite mulr_gt0.
have bo s : bounded_on F (fun h => dot s (fun i => o (h (x i)))) by apply: bounded_dot; exact: (bounded_comp (lip_bounded lo) bF).
have bg s : bounded_on F (fun h => dot s (fun i => g (h (x i)))) by apply: bounded_dot; exact: (bounded_comp (lip_bounded lg) bF).
have al1' : 0 <= 1 - al by rewrite subr_ge0.
have pt s : expR (l * Sup F (fun h => `|dot s (fun i => phi (h (x i)))|)) <=
    al * expR (l * L * S o s) + (1 - al) * (expR (l * L * S g s) + expR (l * L * S g (opp s))).
  apply: exp_Sup_le => // h Fh.
  pose zo := dot s (fun i => o (h (x i))); pose zg := dot s (fun i => g (h (x i))).
  have zE : dot s (fun i => phi (h (x i))) = L * (al * zo + (1 - al) * zg).
    by rewrite /zo /zg -!dotZ -dotD -dotZ; apply: eq_dot => i; rewrite phiE.
  have hO : `|zo| <= S o s.
    rewrite ler_norml ler_oppl; apply/andP; split; last exact: (Sup_ub (bo s)).
    apply: le_trans (Sup_ub (bo s) (Fneg Fh)); rewrite -dotN.
    by rewrite le_eqVlt; apply/orP; left; apply/eqP/eq_dot => i; rewrite od.
  have hA : expR (l * L * `|zg|) <= expR (l * L * S g s) + expR (l * L * S g (opp s)).
    have [z0|z0] := leP 0 zg.
      rewrite ger0_norm // ler_paddr ?(ltW (expR_gt0 _)) // ler_expR ler_pmul2l //; exact: (Sup_ub (bg s)).
    rewrite ltr0_norm // ler_paddl ?(ltW (expR_gt0 _)) // ler_expR ler_pmul2l // -dot_opp.
    exact: (Sup_ub (bg (opp s))).
  have a01 : 0 <= al <= 1 by rewrite al0.
  apply: le_trans (le_trans (expR_convex2 (l * L * `|zo|) (l * L * `|zg|) a01) _).
    rewrite ler_expR zE normrM (gtr0_norm L0).
    have le1 : `|al * zo + (1 - al) * zg| <= al * `|zo| + (1 - al) * `|zg|.
      by rewrite (le_trans (ler_norm_add _ _)) // !normrM (ger0_norm al0) (ger0_norm al1').
    apply: le_trans (ler_wpmul2l (ltW l0) (ler_wpmul2l (ltW L0) le1)) _; move: `|zo| `|zg| => a b.
    by rewrite le_eqVlt; apply/orP; left; apply/eqP; ring.
  by apply: ler_add; apply: ler_wpmul2l => //; rewrite ler_expR ler_pmul2l.
apply: le_trans (E_le pt) _; rewrite E_add !E_scale E_add (E_opp (fun s => expR (l * L * S g s))).
have hO := mgf_contraction (ltW lL) lo (odd0 od); have hA := mgf_contraction (ltW lL) lg g0.
apply: le_trans (ler_add (ler_wpmul2l al0 hO) (ler_wpmul2l al1' (ler_add hA hA))) _.
by move: (E _) => a; rewrite le_eqVlt; apply/orP; left; apply/eqP; ring.
Qed.
End Layer.

Section Peeled.
Variables (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R) (m : nat) (x : 'I_m -> X) (L e : nat -> R).
Hypothesis peel : forall s, peels (phi N s) (L s) (e s).
Local Notation Pn := (P N L).
Local Notation Dn := (D N L e).
Local Notation sh := (share N L).
Local Notation Z := (Z Psi x).
Local Notation Y := (Y Psi x).
Let lb s : locally_bounded (phi N s) := peels_bounded (peel s).
Let L_gt0 s : 0 < L s := (peel s).1.
Let e_ge1 s : 1 <= e s.
Proof.
have [_ [o [g [al [_ [/andP[_ al1] <-]]]]]] := peel s.
by rewrite ler_subr_addl (le_trans (ler_add al1 (lexx 1))).
Qed.

Lemma P_ge0 k : 0 <= Pn k.
Proof. by apply: sums_ge0 => [|k' s t t0]; rewrite ?mulr_ge0 ?Lam_ge0 ?root_q_ge0 // ltW. Qed.
Lemma share_ge0 k s : 0 <= sh k s.
Proof. by rewrite divr_ge0 ?mulr_ge0 ?Lam_ge0 ?root_q_ge0 ?P_ge0 // ltW. Qed.
Lemma share_sum k : (1 < k)%N -> 0 < Pn k -> \sum_(1 <= s < k) sh k s = 1.
Proof. by move=> k1 P0; rewrite -mulr_suml -PE // divff ?gt_eqF. Qed.

(* P_k = 0 only if H_k is 0 *)
Lemma H_le_P k h y : (0 < k)%N -> H Psi k h -> `|h y| <= Pn k * \big[Num.max/0]_j `|Psi y j|.
Proof.
set r := \big[Num.max/0]_j _.
have r0 : 0 <= r by apply: (big_ind (fun y => 0 <= y)) => // a b a0 b0; rewrite le_maxr a0.
elim/ltn_ind: k h => -[|[|k]] // IH h _ hh.
  have [u hu ->] := H_inv1 hh; rewrite P1; apply: norm_dot_le => // t.
  exact: (le_bigmax _ (fun j => `|Psi y j|)).
have [u [g [hu hg ->]]] := H_inv (isT : 1 < k.+2)%N hh.
rewrite PE // mulr_suml.
apply: le_trans (ler_norm_sum _ _ _) _; rewrite big_nat [X in _ <= X]big_nat; apply: ler_sum => s sk.
have /andP[s0 sk'] := sk; rewrite -!mulrA mulrA; apply: norm_dot_le => [|t|]; first exact: hu.
- have := lip_abs_le (g s t y) (peels_lipschitz (peel s)); rewrite (peels_0 (peel s)) normr0 addr0 => /le_trans; apply.
  by rewrite ler_pmul2l //; apply: IH => //; exact: hg.
- by rewrite mulr_ge0 ?(ltW (L_gt0 s)) // mulr_ge0 ?P_ge0.
Qed.
Lemma Y_eq0 k s : (0 < k)%N -> Pn k = 0 -> Y k s = 0.
Proof.
move=> k0 P0; apply/eqP; rewrite eq_le Y_ge0 // andbT; apply: Sup_le => [|h hh]; first exact: H_nonempty.
rewrite /dot big1 ?normr0 // => i _; have := H_le_P (x i) k0 hh.
by rewrite P0 mul0r normr_le0 => /eqP->; rewrite (peels_0 (peel k)) mulr0.
Qed.

Lemma mgf_peel k t : (0 < k)%N -> 0 < Pn k -> 0 < t ->
  E (fun s => expR (t / Pn k * Z k s)) <= Dn k * E (fun s => expR (t / Pn 1 * Z 1 s)).
Proof.
move=> + + t0; elim/ltn_ind: k => -[|[|k]] // IH _ Pk; first by rewrite D1 mul1r.
have k1 : (1 < k.+2)%N by [].
pose y s j := t / (L j * Pn j) * Y j s.
have pt s : expR (t / Pn k.+2 * Z k.+2 s) <= \sum_(1 <= j < k.+2) sh k.+2 j * expR (y s j).
  apply: le_trans (expR_jensen (y s) (share_ge0 k.+2) (share_sum k1 Pk)); rewrite ler_expR.
  apply: (@le_trans _ _ (t / Pn k.+2 * \sum_(1 <= j < k.+2) Lamq N k.+2 j * Y j s)).
    by rewrite ler_wpmul2l ?divr_ge0 ?(ltW Pk) ?(ltW t0) // peel_le.
  rewrite mulr_sumr le_eqVlt; apply/orP; left; apply/eqP; apply: eq_big_nat => j /andP[j0 _].
  rewrite /share /y /Lamq; have [Pj|Pj] := eqVneq (Pn j) 0; first by rewrite (Y_eq0 s j0 Pj) !mulr0.
  have := gt_eqF Pk; have := gt_eqF (L_gt0 j).
  move: (Pn k.+2) (Pn j) (L j) (Lam N _ j) (root_q _ _) (Y j s) Pj => A B C1 C2 C4 C3 hB hC hA.
  by field; rewrite hA hB hC.
apply: le_trans (E_le pt) _; rewrite E_sum DE // mulr_suml.
rewrite big_nat [X in _ <= X]big_nat; apply: ler_sum => j /andP[j0 jk].
rewrite E_scale -mulrA; have [w0|w0] := eqVneq (sh k.+2 j) 0; first by rewrite w0 !mul0r.
rewrite ler_wpmul2l ?share_ge0 //.
have Pj : 0 < Pn j.
  by rewrite lt_def P_ge0 andbT; apply: contra_neq w0 => w0; rewrite /share w0 mulr0 mul0r.
have l0 : 0 < t / (L j * Pn j) by rewrite divr_gt0 // mulr_gt0.
have := @mgf_layer R X m x (H Psi j) (H_zero Psi j0) (fun h hh => H_opp hh) (H_bounded_at Psi x lb j0) _ _ _ _ l0 (peel j).
move/le_trans; apply; rewrite -mulrA ler_wpmul2l //; first exact: le_trans ler01 (e_ge1 j).
rewrite (_ : t / (L j * Pn j) * L j = t / Pn j); first exact: IH.
by rewrite invfM mulrA mulrAC divfK ?gt_eqF.
Qed.

Lemma P1_gt0 k : (0 < k)%N -> 0 < Pn k -> 0 < Pn 1.
Proof.
move=> k0 Pk; rewrite lt_def P_ge0 andbT; apply: contraTneq Pk => P10; rewrite -leNgt.
elim/ltn_ind: k k0 => -[|[|k]] // IH _; first by rewrite P10.
rewrite PE // big_nat big1 // => s /andP[s0 sk].
have /eqP -> : Pn s == 0 by rewrite eq_le P_ge0 andbT IH.
by rewrite mulr0.
Qed.
Lemma D_ge1 k : (0 < k)%N -> 0 < Pn k -> 1 <= Dn k.
Proof.
elim/ltn_ind: k => -[|[|k]] // IH _ Pk.
rewrite DE // -(share_sum (isT : 1 < k.+2)%N Pk).
rewrite big_nat [X in _ <= X]big_nat; apply: ler_sum => j /andP[j0 jk].
have [w0|w0] := eqVneq (sh k.+2 j) 0; first by rewrite w0 mul0r.
apply: ler_pemulr; first exact: share_ge0.
have Pj : 0 < Pn j.
  by rewrite lt_def P_ge0 andbT; apply: contra_neq w0 => w0; rewrite /share w0 mulr0 mul0r.
have Dj := IH j jk j0 Pj; apply: (le_trans Dj); apply: ler_pemull => //.
exact: le_trans ler01 Dj.
Qed.

(* the bottom: Z_1/P_1 <= max_j |Σσ_iΨ_j(x_i)| *)
Lemma mgf_bottom t c r : (0 < n N 0)%N -> 0 < t -> 0 < c -> Pn 1 <= c ->
  (forall j, \sum_i Psi (x i) j ^+ 2 <= m%:R * r ^+ 2) ->
  E (fun s => expR (t / c * Z 1 s)) <= 2%:R * (n N 0)%:R * expR (t ^+ 2 * (m%:R * r ^+ 2) / 2%:R).
Proof.
move=> n0 t0 c0 Pc Pr; pose W j (s : signs m) := dot s (fun i => Psi (x i) j).
have tP : 0 < t / c by rewrite divr_gt0.
have pt s : expR (t / c * Z 1 s) <= \sum_j expR (t * `|W j s|).
  apply: exp_Sup_le => // [|h /H_inv1[u hu hE]]; first exact: H_nonempty.
  pose jm := [arg max_(j > Ordinal n0) `|W j s|]%O.
  have hm j : `|W j s| <= `|W jm s| by rewrite /jm; case: arg_maxP => // j1 _; apply.
  have b1 : `|dot s (at_sample x h)| <= c * `|W jm s|.
    rewrite (eq_dot s (fun i => hE (x i))) dot_sum (eq_bigr (fun j => u j * W j s)) => [|j _]; last by rewrite dotZ.
    by apply: le_trans (norm_dot_le hu hm (normr_ge0 _)) _; rewrite ler_wpmul2r // -P1.
  apply: (@le_trans _ _ (expR (t * `|W jm s|))); first by rewrite ler_expR -mulrA ler_pmul2l // ler_pdivr_mull.
  by rewrite (bigD1 jm) //= ler_paddr // sumr_ge0 // => j _; rewrite ltW // expR_gt0.
exact: le_trans (E_le pt) (mgf_features _ Pr).
Qed.
End Peeled.

Lemma E_exp_gt0 (R : realType) m (f : signs m -> R) : 0 < E (fun s => expR (f s)).
Proof. exact: lt_le_trans (expR_gt0 _) (Jensen f). Qed.

(* sup <= |sup| and Jensen: t E sup <= log E e^(t sup|.|) *)
Lemma Rad_le_moment (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R) (m : nat) (x : 'I_m -> X) (k : nat) (t : R) :
  (forall s, locally_bounded (phi N s)) -> (0 < m)%N -> (0 < k)%N -> 0 < t ->
  t * (m%:R * Rad x (H Psi k)) <= ln (E (fun s => expR (t * Z Psi x k s))).
Proof.
move=> lb m0 k0 t0; rewrite -ler_expR lnK ?posrE ?E_exp_gt0 //.
apply: le_trans (Jensen _); rewrite ler_expR E_scale ler_pmul2l // /Rad mulrA divff ?pnatr_eq0 -?lt0n // mul1r.
by apply: E_le => s; exact: sup_le_Z.
Qed.

Theorem lemma_2_peeled (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R) (m : nat) (x : 'I_m -> X)
    (L e : nat -> R) (k : nat) :
  (forall s, peels (phi N s) (L s) (e s)) -> (0 < m)%N -> (0 < n N 0)%N -> (0 < k)%N ->
  Rad x (H Psi k) <= r_rms Psi x * P N L k * Num.sqrt (2%:R * (ln (2%:R * (n N 0)%:R) + ln (D N L e k)) / m%:R).
Proof.
move=> peel m0 n0 k0; have lb s := peels_bounded (peel s); have mR : 0 < (m%:R : R) by rewrite ltr0n.
have [Pk|Pk] := eqVneq (P N L k) 0.
  rewrite Pk mulr0 mul0r; rewrite /Rad pmulr_rle0 ?invr_gt0 // -[X in _ <= X](E_const m 0); apply: E_le => s.
  apply: Sup_le => [|h hh]; first exact: H_nonempty.
  rewrite /dot big1 // => i _; have := H_le_P peel (x i) k0 hh.
  by rewrite Pk mul0r normr_le0 => /eqP e0; rewrite /at_sample e0 mulr0.
have {}Pk : 0 < P N L k by rewrite lt_def Pk (P_ge0 peel).
have P1' := P1_gt0 peel k0 Pk; have D1' := D_ge1 peel k0 Pk; have D0 := lt_le_trans ltr01 D1'.
have N1 : 1 <= 2%:R * (n N 0)%:R :> R by rewrite -natrM ler1n muln_gt0.
have N0 := lt_le_trans ltr01 N1.
set A := _ + _; have A0 : 0 <= A by rewrite addr_ge0 // ln_ge0.
set r := r_rms Psi x; have V0 : 0 <= m%:R * r ^+ 2 by rewrite mulr_ge0 ?ler0n ?sqr_ge0.
have main t : 0 < t -> t * (m%:R * Rad x (H Psi k) / P N L k) <= A + t ^+ 2 * (m%:R * r ^+ 2) / 2%:R.
  move=> t0; have tP : 0 < t / P N L k by rewrite divr_gt0.
  rewrite (_ : t * _ = t / P N L k * (m%:R * Rad x (H Psi k))); last by rewrite mulrCA [RHS]mulrC -mulrA mulrCA.
  apply: le_trans (Rad_le_moment Psi x lb m0 k0 tP) _.
  rewrite -ler_expR expRD /A expRD !lnK ?posrE ?E_exp_gt0 //.
  apply: le_trans (mgf_peel Psi x peel k0 Pk t0) _.
  have h1 := mgf_bottom n0 t0 P1' (lexx _) (fun j => r_rmsP Psi x j m0).
  apply: le_trans (ler_wpmul2l (ltW D0) h1) _; rewrite -/r; move: (D N L e k) (_%:R) (expR _) => a b c.
  by rewrite le_eqVlt; apply/orP; left; apply/eqP; ring.
have := sqrt_of_moment A0 V0 main; rewrite ler_pdivr_mulr // => le1.
rewrite -(ler_pmul2l mR); apply: le_trans le1 _; rewrite [X in Num.sqrt X]mulrA sqrtrM ?mulr_ge0 ?ler0n // sqrtr_sqr.
rewrite (ger0_norm (r_rms_ge0 Psi x)) -/r.
have -> : 2%:R * A * m%:R = m%:R ^+ 2 * (2%:R * A / m%:R) by move: (gt_eqF mR) => hm; move: (m%:R : R) hm => M hm; field; rewrite hm.
rewrite sqrtrM ?sqr_ge0 // sqrtr_sqr (gtr0_norm mR) le_eqVlt; apply/orP; left; apply/eqP.
by rewrite -!mulrA; congr (_ * _); rewrite mulrC -mulrA.
Qed.

(* ReLU, leaky ReLU, odd φ, any φ with φ(0) = 0 *)
Section Instances.
Variables (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R) (m : nat) (x : 'I_m -> X) (k : nat).
Hypotheses (m0 : (0 < m)%N) (n0 : (0 < n N 0)%N) (k0 : (0 < k)%N).
Local Notation bound L e :=
  (r_rms Psi x * P N (fun=> L) k * Num.sqrt (2%:R * (ln (2%:R * (n N 0)%:R) + ln (D N (fun=> L) (fun=> e) k)) / m%:R)).
Corollary lemma_2_relu : (forall s, phi N s = @relu R) -> Rad x (H Psi k) <= bound 1 (3%:R / 2%:R).
Proof. by move=> act; apply: (lemma_2_peeled Psi x (L := fun=> 1) (e := fun=> 3%:R / 2%:R)) => // s; rewrite act; exact: peels_relu. Qed.
Corollary lemma_2_leaky (a : R) : `|a| <= 1 -> (forall s, phi N s = leaky a) -> Rad x (H Psi k) <= bound 1 ((3%:R - a) / 2%:R).
Proof.
by move=> a1 act; apply: (lemma_2_peeled Psi x (L := fun=> 1) (e := fun=> (3%:R - a) / 2%:R)) => // s; rewrite act; exact: peels_leaky.
Qed.
Corollary lemma_2_odd (L : R) : 0 < L -> (forall s, lipschitz L (phi N s)) -> (forall s, odd_fun (phi N s)) -> Rad x (H Psi k) <= bound L 1.
Proof. by move=> L0 lip od; apply: (lemma_2_peeled Psi x (L := fun=> L) (e := fun=> 1)) => // s; exact: peels_odd. Qed.
Corollary lemma_2_any (L : R) : 0 < L -> (forall s, lipschitz L (phi N s)) -> (forall s, phi N s 0 = 0) -> Rad x (H Psi k) <= bound L 2%:R.
Proof. by move=> L0 lip p0; apply: (lemma_2_peeled Psi x (L := fun=> L) (e := fun=> 2%:R)) => // s; exact: peels_any. Qed.
End Instances.
