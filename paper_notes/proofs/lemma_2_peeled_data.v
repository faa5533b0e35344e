(* lemma-2-peeled, data form: R_S(H_k) <= (P_k/P_1){R_S(H_1) + (Λ_{1,0}/m) sqrt(2 log D_k Σ_i ||Ψ(x_i)||_q²)}. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From mathcomp.classical Require Import boolp classical_sets mathcomp_extra.
From mathcomp.analysis Require Import reals sequences exp.
From AdaNet Require Import signs suprema exponential norms activations families lemma_1_exact lemma_2_peeled distributions.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.

Section Bottom.
Variables (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R) (m : nat) (x : 'I_m -> X) (q : exponent R).
Hypotheses (pq : conjugate (p N) q) (lb : forall s, locally_bounded (phi N s)).
Let b i : R := Lam N 1 0 * norm q (Psi (x i)).
Local Notation Z := (Z Psi x 1).

Lemma H1_le h i : H Psi 1 h -> `|h (x i)| <= b i.
Proof.
move=> /H_inv1[u hu ->]; apply: le_trans (hoelder_abs u (Psi (x i)) pq) _.
by rewrite ler_wpmul2r // norm_ge0.
Qed.

(* one sign moves Z_1 by at most 2 Λ_{1,0} ||Ψ(x_i)||_q *)
Lemma Z1_differences (s s' : signs m) i : (forall j, j != i -> s j = s' j) -> Z s - Z s' <= 2%:R * b i.
Proof.
move=> ss; rewrite ler_subl_addr; apply: Sup_le => [|h hh]; first exact: H_nonempty.
have le1 : `|dot s' (at_sample x h)| <= Z s'.
  by apply: (Sup_ub (f := fun h => `|dot s' (at_sample x h)|)) => //; apply: bounded_abs; exact: H_bounded_at.
have dE : dot s (at_sample x h) = (sg R s i - sg R s' i) * h (x i) + dot s' (at_sample x h).
  rewrite /dot (bigD1 i) //= [in RHS](bigD1 i) //= addrA; congr (_ + _); last first.
    by apply: eq_bigr => j /ss; rewrite /sg => ->.
  by rewrite /at_sample mulrBl subrK.
rewrite dE; apply: le_trans (ler_norm_add _ _) _; apply: ler_add => //; rewrite normrM.
apply: ler_pmul => //; last exact: H1_le.
by apply: le_trans (ler_norm_sub _ _) _; rewrite !norm_sg.
Qed.

Lemma mgf_bottom_data t : (0 < m)%N -> 0 <= t ->
  E (fun s => expR (t * Z s)) <= expR (t * (m%:R * Rad x (H Psi 1)) + t ^+ 2 * (\sum_i b i ^+ 2) / 2%:R).
Proof.
move=> m0 t0; have w0 (i : bool) : 0 <= 2%:R^-1 :> R by rewrite invr_ge0 ler0n.
have w1 : \sum_(i : bool) 2%:R^-1 = 1 :> R by rewrite big_bool /= -mulr2n -[_ *+ 2]mulr_natr mulVf // pnatr_eq0.
rewrite E_Ex; apply: le_trans (bounded_differences w0 w1 t Z1_differences) _; rewrite -E_Ex ler_expR.
have EZ : E Z <= m%:R * Rad x (H Psi 1).
  rewrite /Rad mulrA divff ?pnatr_eq0 -?lt0n // mul1r; apply: E_le => s; apply: Sup_le => [|h hh]; first exact: H_nonempty.
  have B := bounded_dot s (H_bounded_at Psi x lb (ltn0Sn 0)).
  by rewrite ler_norml ler_oppl -dotN (Sup_ub B (H_opp hh)) (Sup_ub B hh).
have -> : \sum_i (2%:R * b i) ^+ 2 = 4%:R * \sum_i b i ^+ 2.
  by rewrite mulr_sumr; apply: eq_bigr => i _; rewrite exprMn -natrX.
have := ler_wpmul2l t0 EZ; move: (E Z) (m%:R * _) (\sum_i b i ^+ 2) => u v c le1.
by apply: (le_by le1); field.
Qed.
End Bottom.

Theorem lemma_2_peeled_data (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R) (m : nat) (x : 'I_m -> X)
    (L e : nat -> R) (k : nat) (q : exponent R) :
  (forall s, peels (phi N s) (L s) (e s)) -> conjugate (p N) q -> (0 < m)%N -> (0 < k)%N ->
  Rad x (H Psi k) <= P N L k / P N L 1 *
    (Rad x (H Psi 1) + Lam N 1 0 / m%:R * Num.sqrt (2%:R * ln (D N L e k) * \sum_i norm q (Psi (x i)) ^+ 2)).
Proof.
move=> peel pq m0 k0; have lb s := peels_bounded (peel s); have mR : 0 < (m%:R : R) by rewrite ltr0n.
have [Pk|Pk] := eqVneq (P N L k) 0.
  rewrite Pk mul0r mul0r; rewrite /Rad pmulr_rle0 ?invr_gt0 // -[X in _ <= X](E_const m 0); apply: E_le => s.
  apply: Sup_le => [|h hh]; first exact: H_nonempty.
  rewrite /dot big1 // => i _; have := H_le_P peel (x i) k0 hh.
  by rewrite Pk mul0r normr_le0 => /eqP e0; rewrite /at_sample e0 mulr0.
have {}Pk : 0 < P N L k by rewrite lt_def Pk (P_ge0 peel).
have P1' := P1_gt0 peel k0 Pk; have D1' := D_ge1 peel k0 Pk; have D0 := lt_le_trans ltr01 D1'.
set S := \sum_i _; have S0 : 0 <= S by apply: sumr_ge0 => i _; exact: sqr_ge0.
pose V := (Lam N 1 0 / P N L 1) ^+ 2 * S; have V0 : 0 <= V by rewrite mulr_ge0 ?sqr_ge0.
have A0 : 0 <= ln (D N L e k) by exact: ln_ge0.
pose Y := m%:R * Rad x (H Psi k) / P N L k - m%:R * Rad x (H Psi 1) / P N L 1.
have main t : 0 < t -> t * Y <= ln (D N L e k) + t ^+ 2 * V / 2%:R.
  move=> t0; have tP : 0 < t / P N L k by rewrite divr_gt0.
  have t1 : 0 <= t / P N L 1 by rewrite divr_ge0 // ltW.
  have := Rad_le_moment Psi x lb m0 k0 tP; rewrite -ler_expR lnK ?posrE ?E_exp_gt0 // => h1.
  have h2 := le_trans h1 (mgf_peel Psi x peel k0 Pk t0).
  have h3 := le_trans h2 (ler_wpmul2l (ltW D0) (mgf_bottom_data Psi x pq lb m0 t1)).
  rewrite -[X in X * expR _](lnK D0) -expRD ler_expR in h3; apply: (le_by h3).
  have -> : \sum_i (Lam N 1 0 * norm q (Psi (x i))) ^+ 2 = Lam N 1 0 ^+ 2 * S.
    by rewrite /S mulr_sumr; apply: eq_bigr => i _; rewrite exprMn.
  rewrite /Y /V; move: (ln _) (Rad x (H Psi k)) (Rad x (H Psi 1)) (gt_eqF Pk) (gt_eqF P1') => l a b.
  by move: (P N L k) (P N L 1) (Lam N 1 0) => c d f hc hd; field; rewrite hc hd.
have := sqrt_of_moment A0 V0 main.
have -> : 2%:R * ln (D N L e k) * V = (Lam N 1 0 / P N L 1) ^+ 2 * (2%:R * ln (D N L e k) * S) by rewrite /V mulrCA.
rewrite sqrtrM ?sqr_ge0 // sqrtr_sqr ger0_norm ?divr_ge0 ?Lam_ge0 ?(ltW P1') // /Y ler_subl_addr ler_pdivr_mulr // => le1.
rewrite -(ler_pmul2l mR); apply: le_trans le1 _; rewrite le_eqVlt; apply/orP; left; apply/eqP.
move: (Num.sqrt _) (Rad x (H Psi 1)) (gt_eqF mR) (gt_eqF P1') => l a.
by move: (P N L k) (P N L 1) (Lam N 1 0) (m%:R : R) => c d f g hg hd; field; rewrite hg hd.
Qed.
