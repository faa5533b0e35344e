(* lemma-2-peeled-offset, any Lipschitz φ: R_S(H_k) <= Q_k sqrt(2 [log 2n_0 + (k-1) log 2]/m),
   Q_1 = r_rms Λ_{1,0} n_0^(1/q), Q_k = Σ_s Λ_{k,s} n_s^(1/q) (L_s Q_s + |φ_s(0)|). *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From mathcomp.classical Require Import boolp classical_sets mathcomp_extra.
From mathcomp.analysis Require Import reals sequences exp.
From AdaNet Require Import signs suprema contraction exponential norms activations families recursions lemma_1_exact lemma_2_peeled.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.

Definition Q (R : realType) (N : net R) (L : nat -> R) (r : R) : nat -> R :=
  sums (r * (Lam N 1 0 * root_q (p N) (n N 0)))
       (fun k s Qs => Lam N k s * root_q (p N) (n N s) * (L s * Qs + `|phi N s 0|)).

Lemma cancel_square (R : realType) (t r c : R) : r != 0 -> (t / r) ^+ 2 * (c * r ^+ 2) = t ^+ 2 * c.
Proof. by move=> r0; field. Qed.

Section Offset.
Variables (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R) (m : nat) (x : 'I_m -> X) (L : nat -> R).
Hypothesis lip : forall s, lipschitz (L s) (phi N s).
Hypotheses (m0 : (0 < m)%N) (n0 : (0 < n N 0)%N).
Let r := r_rms Psi x.
Local Notation Qn := (Q N L r).
Local Notation Z := (Z Psi x).
Local Notation Y := (Y Psi x).
Let lb s : locally_bounded (phi N s) := lip_bounded (lip s).
Let L0 s : 0 <= L s := lip_ge0 (lip s).
Let G k (t : R) : R := 2%:R ^+ k * (n N 0)%:R * expR (t ^+ 2 * m%:R / 2%:R).

Lemma Q_ge0 k : 0 <= Qn k.
Proof.
apply: sums_ge0 => [|k' s t t0]; first by rewrite mulr_ge0 ?r_rms_ge0 // mulr_ge0 ?Lam_ge0 ?root_q_ge0.
by rewrite mulr_ge0 ?mulr_ge0 ?Lam_ge0 ?root_q_ge0 // addr_ge0 // mulr_ge0.
Qed.
Lemma Q1 : Qn 1 = r * (Lam N 1 0 * root_q (p N) (n N 0)). Proof. exact: sums1. Qed.
Lemma QE k : (1 < k)%N -> Qn k = \sum_(1 <= s < k) Lamq N k s * (L s * Qn s + `|phi N s 0|).
Proof. exact: sumsE. Qed.

(* the centred activation, and its supremum V_s *)
Let psi s y := phi N s y - phi N s 0.
Let lip_psi s : lipschitz (L s) (psi s).
Proof. by move=> a b; rewrite /psi opprB addrA subrK; exact: lip. Qed.
Definition V k (s : signs m) : R := Sup (H Psi k) (fun h => `|dot s (fun i => psi k (h (x i)))|).
Definition A (s : signs m) : R := `|\sum_i sg R s i|.

Let bV k s : (0 < k)%N -> bounded_on (H Psi k) (fun h => `|dot s (fun i => psi k (h (x i)))|).
Proof. by move=> k0; apply: bounded_abs; apply: (bounded_comp (v := at_sample x) (lip_bounded (lip_psi k))); exact: H_bounded_at. Qed.
Lemma Y_le_V k s : (0 < k)%N -> Y k s <= V k s + `|phi N k 0| * A s.
Proof.
move=> k0; apply: Sup_le => [|h hh]; first exact: H_nonempty.
have -> : dot s (fun i => phi N k (h (x i))) = dot s (fun i => psi k (h (x i))) + phi N k 0 * \sum_i sg R s i.
  by rewrite /dot mulr_sumr -big_split; apply: eq_bigr => i _ /=; rewrite /psi; move: (phi _ _ _) (phi _ _ 0) => *; ring.
rewrite (le_trans (ler_norm_add _ _)) // normrM ler_add2r.
exact: (Sup_ub (f := fun h => `|dot s (fun i => psi k (h (x i)))|) (bV s k0)).
Qed.

(* where Q_s = 0 the family is 0 on the sample *)
Lemma H_zero_on_sample k h i : (0 < k)%N -> Qn k = 0 -> H Psi k h -> h (x i) = 0.
Proof.
elim/ltn_ind: k h => -[|[|k]] // IH h _ Q0 hh.
  move: Q0; rewrite Q1 => /eqP; rewrite mulf_eq0 => /orP[/eqP r0|/eqP c0]; have [u hu ->] := H_inv1 hh.
    rewrite big1 // => j _; have := r_rmsP Psi x j m0; rewrite -/r r0 expr0n mulr0 => le0.
    have : Psi (x i) j ^+ 2 == 0.
      rewrite eq_le sqr_ge0 andbT; apply: le_trans le0; rewrite (bigD1 i) //= ler_addl sumr_ge0 // => i' _; exact: sqr_ge0.
    by rewrite sqrf_eq0 => /eqP->; rewrite mulr0.
  apply/eqP; rewrite -normr_le0; pose K := \big[Num.max/0]_j `|Psi (x i) j|.
  have K0 : 0 <= K by apply: (big_ind (fun y => 0 <= y)) => // a b a0 b0; rewrite le_maxr a0.
  have := norm_dot_le (K := K) hu _ K0; rewrite c0 mul0r; apply => t; exact: (le_bigmax _ (fun j => `|Psi (x i) j|)).
have [u [g [hu hg ->]]] := H_inv (isT : 1 < k.+2)%N hh.
move: Q0; rewrite QE // big_nat => /eqP; rewrite psumr_eq0 => [/allP Q0|s _]; last first.
  by rewrite mulr_ge0 ?Lamq_ge0 // addr_ge0 // mulr_ge0 ?Q_ge0.
rewrite big_nat big1 // => s sk; have /andP[s0 sk'] := sk.
have : Lamq N k.+2 s * (L s * Qn s + `|phi N s 0|) == 0.
  by have := Q0 s; rewrite mem_index_iota sk; apply.
rewrite mulf_eq0 => /orP[/eqP c0|].
  have [K K0 hK] : exists2 K, 0 <= K & forall f, H Psi s f -> `|phi N s (f (x i))| <= K.
    have [M M0 hM] := H_bounded Psi (x i) lb s0; have [K hK] := lb s M; exists K => [|f hf]; last by rewrite hK ?hM.
    by apply: le_trans (normr_ge0 (phi N s 0)) (hK _ _); rewrite normr0.
  apply/eqP; rewrite -normr_le0; have := norm_dot_le (hu s sk) (fun t => hK _ (hg s t sk)) K0.
  by rewrite -/(Lamq N k.+2 s) c0 mul0r.
rewrite paddr_eq0 ?mulr_ge0 ?Q_ge0 // normr_eq0 => /andP[LQ /eqP p0].
rewrite big1 // => t _; suff -> : phi N s (g s t (x i)) = 0 by rewrite mulr0.
move: LQ; rewrite mulf_eq0 => /orP[/eqP Ls|/eqP Qs].
  by apply/eqP; rewrite -normr_le0; have := lip_abs_le (g s t (x i)) (lip s); rewrite Ls mul0r add0r p0 normr0.
by rewrite (IH s sk' _ s0 Qs (hg s t sk)) p0.
Qed.

Lemma V_eq0 k s : (0 < k)%N -> L k * Qn k = 0 -> V k s = 0.
Proof.
move=> k0 LQ; apply/eqP; rewrite eq_le; apply/andP; split; last first.
  exact: le_trans (normr_ge0 _) (Sup_ub (bV s k0) (H_zero Psi k0)).
apply: Sup_le => [|h hh]; first exact: H_nonempty.
rewrite /dot big1 ?normr0 // => i _; suff -> : psi k (h (x i)) = 0 by rewrite mulr0.
move/eqP: LQ; rewrite mulf_eq0 => /orP[/eqP Lk|/eqP Qk].
  by apply/eqP; rewrite -normr_le0; have := lip k (h (x i)) 0; rewrite Lk mul0r.
by rewrite (H_zero_on_sample i k0 Qk hh) /psi subrr.
Qed.

Lemma mgf_offset k t : (0 < k)%N -> 0 < Qn k -> 0 < t -> E (fun s => expR (t / Qn k * Z k s)) <= G k t.
Proof.
move=> + + t0; elim/ltn_ind: k => -[|[|k]] // IH _ Qk.
  have r0 : 0 < r.
    rewrite lt_def r_rms_ge0 andbT; apply: contraTneq Qk => r0; by rewrite Q1 r0 mul0r ltxx.
  have c0 : 0 < P N (fun=> 0) 1 by rewrite P1; move: Qk; rewrite Q1 pmulr_rgt0.
  have t1 : 0 < t / r by rewrite divr_gt0.
  have := @mgf_bottom R X N Psi m x (fun=> 0) (t / r) _ r n0 t1 c0 (lexx _) (fun j => r_rmsP Psi x j m0).
  rewrite (_ : t / r / P N (fun=> 0) 1 = t / Qn 1); last by rewrite P1 Q1 [in RHS]invfM mulrA.
  by rewrite cancel_square ?gt_eqF // -[2%:R]expr1.
have k1 : (1 < k.+2)%N by [].
pose w j := Lamq N k.+2 j * (L j * Qn j) / Qn k.+2; pose v j := Lamq N k.+2 j * `|phi N j 0| / Qn k.+2.
have w0 j : 0 <= w j by rewrite divr_ge0 ?(ltW Qk) // mulr_ge0 ?Lamq_ge0 // mulr_ge0 ?Q_ge0.
have v0 j : 0 <= v j by rewrite divr_ge0 ?(ltW Qk) // mulr_ge0 ?Lamq_ge0.
have wv : \sum_(1 <= j < k.+2) w j + \sum_(1 <= j < k.+2) v j = 1.
  rewrite -!mulr_suml -mulrDl -big_split /=; under eq_bigr do rewrite -mulrDr.
  by rewrite -QE // divff ?gt_eqF.
pose a s j := t / (L j * Qn j) * V j s.
have pt s : expR (t / Qn k.+2 * Z k.+2 s) <=
    \sum_(1 <= j < k.+2) w j * expR (a s j) + \sum_(1 <= j < k.+2) v j * expR (t * A s).
  have := @expR_jensen R (nat + nat) (map inl (index_iota 1 k.+2) ++ map inr (index_iota 1 k.+2))
    (fun i => match i with inl j => w j | inr j => v j end) (fun i => match i with inl j => a s j | inr _ => t * A s end).
  rewrite !big_cat !big_map /= => /(_ _ wv) J; apply: le_trans (J _); last by case.
  rewrite ler_expR -big_split /=.
  apply: (@le_trans _ _ (t / Qn k.+2 * \sum_(1 <= j < k.+2) Lamq N k.+2 j * (V j s + `|phi N j 0| * A s))).
    rewrite ler_wpmul2l ?divr_ge0 ?(ltW Qk) ?(ltW t0) //; apply: le_trans (peel_le Psi x lb s k1) _.
    rewrite big_nat [X in _ <= X]big_nat; apply: ler_sum => j /andP[j0 _].
    by rewrite ler_wpmul2l ?Lamq_ge0 // Y_le_V.
  rewrite mulr_sumr le_eqVlt; apply/orP; left; apply/eqP; apply: eq_big_nat => j /andP[j0 _].
  rewrite /w /v /a; have Q0 := gt_eqF Qk; have [LQ|LQ] := eqVneq (L j * Qn j) 0.
    rewrite (V_eq0 s j0 LQ) LQ mulr0 !mul0r add0r add0r.
    by move: (Qn k.+2)^-1 (Lamq _ _ _) `|phi N j 0| (A s) => b c d e; ring.
  move: (L j * Qn j) (Qn k.+2) (Lamq _ _ _) `|phi N j 0| (A s) (V j s) LQ Q0 => b c d e f g hb hc.
  by field; rewrite hb hc.
apply: le_trans (E_le pt) _; rewrite E_add !E_sum -[X in _ <= X]mul1r -wv mulrDl !mulr_suml.
have G0 : 0 <= expR (t ^+ 2 * m%:R / 2%:R) by rewrite ltW // expR_gt0.
apply: ler_add; rewrite big_nat [X in _ <= X]big_nat; apply: ler_sum => j /andP[j0 jk]; rewrite E_scale.
  have [wj|wj] := eqVneq (w j) 0; first by rewrite wj !mul0r.
  rewrite ler_wpmul2l //.
  have LQ : L j * Qn j != 0 by apply: contra_neq wj => LQ; rewrite /w LQ mulr0 mul0r.
  have [Lj Qj] : 0 < L j /\ 0 < Qn j.
    by move: LQ; rewrite mulf_eq0 negb_or => /andP[? ?]; rewrite !lt_def L0 Q_ge0; split; apply/andP.
  have l0 : 0 < t / (L j * Qn j) by rewrite divr_gt0 // mulr_gt0.
  have pj : peels (psi j) (L j) 2%:R by apply: peels_any => //; rewrite /psi subrr.
  have := @mgf_layer R X m x (H Psi j) (H_zero Psi j0) (fun h hh => H_opp hh) (H_bounded_at Psi x lb j0) _ _ _ _ l0 pj.
  move/le_trans; apply; rewrite (_ : t / (L j * Qn j) * L j = t / Qn j); last first.
    by rewrite invfM mulrA mulrAC divfK ?gt_eqF.
  have := IH j jk j0 Qj => le1; apply: le_trans (ler_wpmul2l (ler0n _ 2) le1) _.
  rewrite /G !mulrA -exprS ler_wpmul2r // ler_wpmul2r ?ler0n // ler_weexpn2l ?ler1n //.
rewrite ler_wpmul2l //; apply: (@le_trans _ _ (2%:R * expR (t ^+ 2 * m%:R / 2%:R))).
  have := @mgf_abs_le R m t (fun=> 1); rewrite (eq_E (g := fun s => expR (t * A s))); last first.
    by move=> s; rewrite /dot /A; congr (expR (_ * `|_|)); apply: eq_bigr => i _; rewrite mulr1.
  by rewrite (eq_bigr (fun=> 1)) ?sumr_const ?card_ord // => i _; rewrite expr1n.
have h2 : 2%:R <= 2%:R ^+ k.+2 :> R by rewrite exprS ler_pemulr ?ler0n // exprn_ege1 // ler1n.
have h1 : 1 <= (n N 0)%:R :> R by rewrite ler1n.
by have := ler_pmul (ler0n _ 2) ler01 h2 h1; rewrite mulr1 => h; rewrite /G ler_wpmul2r.
Qed.
End Offset.

Theorem lemma_2_peeled_offset (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R) (m : nat) (x : 'I_m -> X)
    (L : nat -> R) (k : nat) :
  (forall s, lipschitz (L s) (phi N s)) -> (0 < m)%N -> (0 < n N 0)%N -> (0 < k)%N ->
  Rad x (H Psi k) <= Q N L (r_rms Psi x) k * Num.sqrt (2%:R * (ln (2%:R * (n N 0)%:R) + (k.-1)%:R * ln 2%:R) / m%:R).
Proof.
move=> lip m0 n0 k0; have lb s := lip_bounded (lip s); have mR : 0 < (m%:R : R) by rewrite ltr0n.
set q := Q N L _ k; have [Qk|Qk] := eqVneq q 0.
  rewrite Qk mul0r; rewrite /Rad pmulr_rle0 ?invr_gt0 // -[X in _ <= X](E_const m 0); apply: E_le => s.
  apply: Sup_le => [|h hh]; first exact: H_nonempty.
  by rewrite /dot big1 // => i _; rewrite /at_sample (H_zero_on_sample lip m0 i k0 Qk hh) mulr0.
have {}Qk : 0 < q by rewrite lt_def Qk Q_ge0.
set B := _ + _; have B0 : 0 <= B.
  by rewrite addr_ge0 ?mulr_ge0 ?ler0n ?ln_ge0 ?ler1n // -natrM ler1n muln_gt0.
have main t : 0 < t -> t * (m%:R * Rad x (H Psi k) / q) <= B + t ^+ 2 * m%:R / 2%:R.
  move=> t0; have tP : 0 < t / q by rewrite divr_gt0.
  rewrite (_ : t * _ = t / q * (m%:R * Rad x (H Psi k))); last by rewrite mulrCA [RHS]mulrC -mulrA mulrCA.
  apply: le_trans (Rad_le_moment Psi x lb m0 k0 tP) _.
  rewrite -ler_expR expRD /B expRD lnK ?posrE ?E_exp_gt0 // lnK ?posrE ?mulr_gt0 ?ltr0n //.
  apply: le_trans (mgf_offset lip m0 n0 k0 Qk t0) _; rewrite ler_wpmul2r ?(ltW (expR_gt0 _)) //.
  have e2 : 2%:R ^+ k = 2%:R * 2%:R ^+ k.-1 :> R by rewrite -exprS prednK.
  by rewrite expRMm lnK ?posrE ?ltr0n // e2 mulrAC.
have := sqrt_of_moment B0 (ltW mR) main; rewrite ler_pdivr_mulr // => le1.
rewrite -(ler_pmul2l mR); apply: le_trans le1 _.
have -> : 2%:R * B * m%:R = m%:R ^+ 2 * (2%:R * B / m%:R) by move: (gt_eqF mR) => hm; move: (m%:R : R) hm => M hm; field; rewrite hm.
rewrite sqrtrM ?sqr_ge0 // sqrtr_sqr (gtr0_norm mR) le_eqVlt; apply/orP; left; apply/eqP.
by rewrite -!mulrA; congr (_ * _); rewrite mulrC.
Qed.
