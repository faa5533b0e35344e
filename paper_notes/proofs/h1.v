(* h1-exact: R_S(H_1) = (Λ_{1,0}/m) E||Σ_i σ_i Ψ(x_i)||_q. h1-closed: at most Λ_{1,0} n_0^(1/q) r_rms times sqrt(2 log(2n_0)/m), and for q <= 2
   times sqrt(1/m). No assumption on φ, which H_1 does not have. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From mathcomp.classical Require Import boolp classical_sets mathcomp_extra.
From mathcomp.analysis Require Import reals sequences exp.
From AdaNet Require Import signs suprema exponential norms families cvx_closed_form lemma_2_peeled.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.

(* E (Σ_i σ_i a_i)² = Σ_i a_i² *)
Lemma E_square (R : realType) m (a : 'I_m -> R) : E (fun s => dot s a ^+ 2) = \sum_i a i ^+ 2.
Proof.
have cross (i j : 'I_m) : E (fun s => sg R s i * a i * (sg R s j * a j)) = if i == j then a i ^+ 2 else 0.
  have [<-|ij] := eqVneq i j.
    rewrite -[RHS](E_const m); apply: eq_E => s; rewrite -expr2 exprMn -[sg _ _ _ ^+ 2]real_normK ?num_real //.
    by rewrite norm_sg expr1n mul1r.
  set f := fun s => _; have h : E f = - E f.
    rewrite -{1}(E_flip i f) (eq_E (g := fun s => -1 * f s)) ?E_scale ?mulN1r // => s.
    by rewrite /f !sg_flip eqxx eq_sym (negbTE ij) mul1r !mulN1r !mulNr.
  by move/eqP: h; rewrite -subr_eq0 opprK -mulr2n mulrn_eq0 => /eqP.
rewrite (eq_E (g := fun s => \sum_i \sum_j sg R s i * a i * (sg R s j * a j))) => [|s]; last first.
  by rewrite expr2 {1}/dot mulr_suml; apply: eq_bigr => i _; rewrite mulr_sumr.
rewrite E_sum; apply: eq_bigr => i _; rewrite E_sum (bigD1 i) //= cross eqxx big1 ?addr0 // => j ij.
by rewrite cross eq_sym (negbTE ij).
Qed.
(* y^θ <= 1 + θ(y - 1) *)
Lemma powp_tangent (R : realType) (y t : R) : 0 <= y -> 0 <= t <= 1 -> powp y t <= 1 + t * (y - 1).
Proof.
rewrite le_eqVlt => /predU1P[<-|y0] t01.
  by rewrite powp0 sub0r mulrN1 subr_ge0; case/andP: t01.
have := expR_convex2 (ln y) 0 t01; rewrite mulr0 addr0 expR0 mulr1 -powpE // lnK // => /le_trans; apply.
by rewrite le_eqVlt; apply/orP; left; apply/eqP; ring.
Qed.

Section First.
Variables (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R) (m : nat) (x : 'I_m -> X).
Local Notation W s := (fun j => dot s (fun i => Psi (x i) j)).

Lemma dot_H1 (u : 'I_(n N 0) -> R) h s : (forall y, h y = \sum_j u j * Psi y j) -> dot s (at_sample x h) = \sum_j u j * W s j.
Proof. by move=> hE; rewrite (eq_dot s (fun i => hE (x i))) dot_sum; apply: eq_bigr => j _; rewrite dotZ. Qed.

Theorem h1_exact (q : exponent R) : conjugate (p N) q ->
  Rad x (H Psi 1) = Lam N 1 0 / m%:R * E (fun s => norm q (W s)).
Proof.
move=> pq; rewrite /Rad [Lam N 1 0 / _]mulrC -[RHS]mulrA; congr (_ * _); rewrite -E_scale; apply: eq_E => s.
have ub h : H Psi 1 h -> dot s (at_sample x h) <= Lam N 1 0 * norm q (W s).
  move=> /H_inv1[u hu hE]; rewrite (dot_H1 s hE); apply: le_trans (ler_norm _) _; apply: le_trans (hoelder_abs _ _ pq) _.
  by rewrite ler_wpmul2r // norm_ge0.
apply/eqP; rewrite eq_le; apply/andP; split; first by apply: Sup_le => //; exact: H_nonempty.
have [u hu uE] := attained (W s) (Lam_ge0 N 1 0) pq.
have hu' : H Psi 1 (fun y => \sum_j u j * Psi y j) by apply: H_1 hu _.
rewrite -uE -(dot_H1 (h := fun y => \sum_j u j * Psi y j)) //; apply: (Sup_ub (f := fun h => dot s (at_sample x h))) => //.
by exists (Lam N 1 0 * norm q (W s)).
Qed.

Hypothesis m0 : (0 < m)%N.
Let mR : 0 < (m%:R : R). Proof. by rewrite ltr0n. Qed.
Local Notation r := (r_rms Psi x).

Theorem h1_closed : (0 < n N 0)%N ->
  Rad x (H Psi 1) <= Lam N 1 0 * root_q (p N) (n N 0) * (r * Num.sqrt (2%:R * ln (2%:R * (n N 0)%:R) / m%:R)).
Proof.
move=> n0; pose jm s := [arg max_(j > Ordinal n0) `|W s j|]%O.
have hm s j : `|W s j| <= `|W s (jm s)| by rewrite /jm; case: arg_maxP => // j1 _; apply.
have L0 : 0 <= ln (2%:R * (n N 0)%:R) :> R by rewrite ln_ge0 // -natrM ler1n muln_gt0.
have Np : 0 < 2%:R * (n N 0)%:R :> R by rewrite -natrM ltr0n muln_gt0.
have V0 : 0 <= m%:R * r ^+ 2 by rewrite mulr_ge0 ?ler0n ?sqr_ge0.
have max_le : E (fun s => `|W s (jm s)|) <= Num.sqrt (2%:R * ln (2%:R * (n N 0)%:R) * (m%:R * r ^+ 2)).
  apply: sqrt_of_moment => // t t0; rewrite -ler_expR expRD lnK ?posrE // -E_scale; apply: le_trans (Jensen _) _.
  apply: le_trans (mgf_features t (fun j => r_rmsP Psi x j m0)); apply: E_le => s.
  by rewrite (bigD1 (jm s)) //= ler_addl sumr_ge0 // => j _; rewrite ltW // expR_gt0.
have c0 : 0 <= Lam N 1 0 * root_q (p N) (n N 0) by exact: Lamq_ge0.
apply: (@le_trans _ _ (m%:R^-1 * (Lam N 1 0 * root_q (p N) (n N 0) * E (fun s => `|W s (jm s)|)))).
  rewrite ler_pmul2l ?invr_gt0 // -E_scale; apply: E_le => s; apply: Sup_le => [|h /H_inv1[u hu hE]]; first exact: H_nonempty.
  by rewrite (dot_H1 s hE); apply: le_trans (ler_norm _) (norm_dot_le hu (hm s) (normr_ge0 _)).
rewrite mulrCA ler_wpmul2l // ler_pdivr_mull //; apply: le_trans max_le _.
have -> : 2%:R * ln (2%:R * (n N 0)%:R) * (m%:R * r ^+ 2) = (m%:R * r) ^+ 2 * (2%:R * ln (2%:R * (n N 0)%:R) / m%:R).
  by move: (gt_eqF mR) (ln _) r => hm' l b; move: (m%:R : R) hm' => M hM; field; rewrite hM.
by rewrite sqrtrM ?sqr_ge0 // sqrtr_sqr ger0_norm ?mulr_ge0 ?ler0n ?r_rms_ge0 // mulrA.
Qed.

(* Jensen twice: q <= 2 *)
Theorem h1_closed_small (b : R) (b1 : 1 <= b) : b <= 2%:R -> conjugate (p N) (Finite b1) ->
  Rad x (H Psi 1) <= Lam N 1 0 * root_q (p N) (n N 0) * (r / Num.sqrt m%:R).
Proof.
move=> b2 pq; have b0 : 0 < b := lt_le_trans ltr01 b1; have sm : 0 < Num.sqrt (m%:R : R) by rewrite sqrtr_gt0.
rewrite (h1_exact pq) -(norm_one (n N 0) pq) -!mulrA ler_wpmul2l ?Lam_ge0 // ler_pdivr_mull //.
have -> : m%:R * (norm (Finite b1) (fun _ : 'I_(n N 0) => 1) * (r / Num.sqrt m%:R)) = norm (Finite b1) (fun _ : 'I_(n N 0) => 1) * (Num.sqrt m%:R * r).
  by rewrite -{1}(sqr_sqrtr (ltW mR)); move: (gt_eqF sm) (norm _ _) r; move: (Num.sqrt m%:R) => M hM c d; field; rewrite hM.
have s2 : (Num.sqrt m%:R * r) ^+ 2 = m%:R * r ^+ 2 by rewrite exprMn sqr_sqrtr // ltW.
have s0 : 0 <= Num.sqrt m%:R * r by rewrite mulr_ge0 ?r_rms_ge0 // ltW.
move: (Num.sqrt m%:R * r) s2 s0 => sd s2 s0; set K := norm _ (fun=> 1).
have Ej j : E (fun s => W s j ^+ 2) <= sd ^+ 2 by rewrite E_square s2 r_rmsP.
have K0 : 0 <= K by exact: norm_ge0.
have [sz|snz] := eqVneq sd 0.
  have z s j : W s j = 0.
    rewrite /dot big1 // => i _; have := r_rmsP Psi x j m0; rewrite -s2 sz expr0n /= => le0.
    suff /eqP -> : Psi (x i) j == 0 by rewrite mulr0.
    have p0 k : 0 <= Psi (x k) j ^+ 2 by exact: sqr_ge0.
    have : \sum_i Psi (x i) j ^+ 2 == 0 by rewrite eq_le le0 sumr_ge0.
    by rewrite psumr_eq0 // => /allP/(_ i (mem_index_enum _)) /=; rewrite expf_eq0.
  rewrite (eq_E (g := fun=> 0)) ?E_const ?mulr_ge0 // => s.
  by rewrite (eq_norm _ (v := fun=> 0)) ?norm0 // => j; rewrite z.
have sp : 0 < sd by rewrite lt_def snz.
have [nz|nz] := posnP (n N 0).
  rewrite (eq_E (g := fun=> 0)) ?E_const ?mulr_ge0 // => s.
  by rewrite (eq_norm _ (v := fun=> 0)) ?norm0 // => j; move: (ltn_ord j); rewrite {2}nz.
set nn := (n N 0)%:R : R; have nn0 : 0 < nn by rewrite ltr0n.
have t1 : 0 <= b^-1 <= 1 by rewrite invr_ge0 (ltW b0) invf_le1.
have t2 : 0 <= b / 2%:R <= 1 by rewrite divr_ge0 ?(ltW b0) ?ler0n //= ler_pdivr_mulr ?ltr0n // mul1r.
have pt s : norm (Finite b1) (W s) <= K * sd * (2%:R^-1 + (2%:R * nn)^-1 * \sum_j W s j ^+ 2 / sd ^+ 2).
  pose T := nn^-1 * \sum_j powp (`|W s j| / sd) b.
  have T0 : 0 <= T by rewrite mulr_ge0 ?invr_ge0 ?(ltW nn0) // sumr_ge0 // => j _; exact: powp_ge0.
  have -> : norm (Finite b1) (W s) = K * sd * powp T b^-1.
    have KE : K = powp nn b^-1.
      by rewrite /K /= (eq_bigr (fun=> 1)) => [|j _]; rewrite ?normr1 ?powp_1 // sumr_const card_ord.
    rewrite KE /T powpM ?invr_ge0 ?(ltW nn0) ?sumr_ge0 // => [|j _]; last exact: powp_ge0.
    rewrite powpV ?(ltW nn0) // mulrACA mulfV ?mul1r ?gt_eqF ?powp_gt0 //.
    have sc : norm (Finite b1) (fun j => sd^-1 * W s j) = sd^-1 * norm (Finite b1) (W s).
      by rewrite norm_scale [`|sd^-1|]ger0_norm // invr_ge0.
    have nE : norm (Finite b1) (fun j => sd^-1 * W s j) = powp (\sum_j powp (`|W s j| / sd) b) b^-1.
      by rewrite /=; congr (powp _ _); apply: eq_bigr => j _; rewrite normrM [`|sd^-1|]ger0_norm ?invr_ge0 // mulrC.
    apply: (etrans (esym (mulVKf snz _))); congr (_ * _); exact: (etrans (esym sc) nE).
  rewrite ler_wpmul2l ?mulr_ge0 //; apply: le_trans (powp_tangent T0 t1) _.
  have T1 : T <= 1 + b / 2%:R * (nn^-1 * (\sum_j W s j ^+ 2 / sd ^+ 2) - 1).
    apply: (@le_trans _ _ (nn^-1 * \sum_j (1 + b / 2%:R * (W s j ^+ 2 / sd ^+ 2 - 1)))).
      rewrite ler_wpmul2l ?invr_ge0 ?(ltW nn0) //; apply: ler_sum => j _.
      have y0 : 0 <= `|W s j| / sd by rewrite divr_ge0.
      have -> : powp (`|W s j| / sd) b = powp ((`|W s j| / sd) ^+ 2) (b / 2%:R).
        have [->|yn] := eqVneq (`|W s j| / sd) 0; first by rewrite expr0n !powp0.
        have yp : 0 < `|W s j| / sd by rewrite lt_def yn.
        by rewrite !powpE ?exprn_gt0 // lnX // -[_ *+ 2]mulr_natr; congr expR; field.
      apply: le_trans (powp_tangent (sqr_ge0 _) t2) _; rewrite expr_div_n real_normK ?num_real //.
    rewrite big_split /= sumr_const card_ord -mulr_sumr sumrB sumr_const card_ord -/nn.
    by move: (\sum_j _) (gt_eqF nn0) => A hn; rewrite le_eqVlt; apply/orP; left; apply/eqP; field; rewrite hn.
  have ib : 0 <= b^-1 by rewrite invr_ge0 ltW.
  have := ler_wpmul2l ib T1; clearbody T; move: (\sum_j _) T T0 T1 (gt_eqF nn0) (gt_eqF b0) => A T' _ _ hn hb le1.
  by apply: (le_by le1); field; rewrite hn hb.
apply: le_trans (E_le pt) _; rewrite E_scale E_add E_const E_scale E_sum.
rewrite -[X in _ <= X]mulr1 ler_wpmul2l ?mulr_ge0 //.
have le1 : \sum_j E (fun s => W s j ^+ 2 / sd ^+ 2) <= nn.
  apply: (@le_trans _ _ (\sum_(j < n N 0) 1)); last by rewrite sumr_const card_ord.
  apply: ler_sum => j _; rewrite (eq_E (g := fun s => (sd ^+ 2)^-1 * W s j ^+ 2)) => [|s]; last by rewrite mulrC.
  by rewrite E_scale ler_pdivr_mull ?exprn_gt0 // mulr1.
have i0 : 0 <= (2%:R * nn)^-1 by rewrite invr_ge0 mulr_ge0 ?ler0n // ltW.
have := ler_wpmul2l i0 le1; move: (\sum_j _) (gt_eqF nn0) => A hn h.
by apply: (le_by h); field; rewrite hn.
Qed.
End First.
