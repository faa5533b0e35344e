(* depth-lower: R_S(H_{k+1}) >= (1/2) Λ_{k+1,k} n_k^(1/q) R_S(H_k) for ReLU, every k; without the half for layered families
   and k >= 2, also for |x|. So the product of Λ n^(1/q) is real. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From mathcomp.classical Require Import boolp classical_sets.
From mathcomp.analysis Require Import reals.
From AdaNet Require Import signs suprema norms activations families lemma_1_exact.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.

Definition layered (R : realType) (N : net R) := forall k s, (s.+1 < k)%N -> Lam N k s = 0.

Section Lower.
Variables (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R) (m : nat) (x : 'I_m -> X).
Hypothesis lb : forall s, locally_bounded (phi N s).
Local Notation Y := (Y Psi x).

Lemma Rad_ge_Y k : (0 < k)%N ->
  Lam N k.+1 k * root_q (p N) (n N k) * Rad_abs x (phi N k) (H Psi k) <= Rad x (H Psi k.+1).
Proof.
move=> k0; rewrite lemma_1_exact // big_nat_recr //= ler_addr.
rewrite big_nat; apply: sumr_ge0 => s /andP[s0 _]; rewrite mulr_ge0 ?Lamq_ge0 // mulr_ge0 ?invr_ge0 ?ler0n //.
by apply: E_ge0 => e; exact: (Y_ge0 Psi x lb).
Qed.

(* n_{k-1} copies of one unit, weights of one sign: c φ(h') >= 0, on which φ is the identity *)
Lemma Y_ge_sup k e : layered N -> (forall y, 0 <= phi N k y) -> (forall y, 0 <= y -> phi N k.+1 y = y) -> (0 < k)%N ->
  Sup (H Psi k.+1) (fun h => dot e (at_sample x h)) <= Y k.+1 e.
Proof.
move=> lay pos idp k0; rewrite (sup_H Psi x lb) // big_nat_recr //= big1_seq ?add0r; last first.
  by move=> s; rewrite mem_index_iota => /andP[_ /andP[s0 sk]]; rewrite /Lamq lay ?mul0r.
set c := Lamq N k.+1 k; have c0 : 0 <= c by exact: Lamq_ge0.
have B := bounded_abs e (H_phi_bounded_at Psi x lb k0).
rewrite /lemma_1_exact.Y -(Sup_scale (H_nonempty Psi k0) B c0); apply: Sup_le => [|h hh]; first exact: H_nonempty.
pose v y := c * phi N k (h y).
have hv : H Psi k.+1 v.
  pose u s (_ : 'I_(n N s)) : R := if s == k then Lam N k.+1 k * inv_root_p (p N) (n N k) else 0.
  pose g s (_ : 'I_(n N s)) : X -> R := if s == k then h else fun=> 0.
  apply: (@H_k _ _ _ _ _ u g) => // [s _|s t /andP[s0 _]|y].
  - rewrite /u; have [->|_] := eqVneq s k; last by rewrite norm0 Lam_ge0.
    exact: norm_equal (Lam_ge0 N k.+1 k).
  - by rewrite /g; have [->|_] := eqVneq s k; [| exact: H_zero].
  - rewrite big_nat_recr //= big1_seq ?add0r; last first.
      move=> s; rewrite mem_index_iota => /andP[_ /andP[s0 sk]]; rewrite big1 // => t _.
      by rewrite /u (ltn_eqF sk) mul0r.
    rewrite /u /g eqxx sumr_const card_ord -[_ *+ _]mulr_natl /v /c /Lamq -mul_inv_root_p.
    by move: (phi _ _ _) (inv_root_p _ _) => a b; ring.
have := Y_ub x lb e (ltn0Sn k) hv; rewrite -/(Y k.+1 e) => le1; apply: le_trans le1.
have -> : dot e (fun i => phi N k.+1 (v (x i))) = c * dot e (fun i => phi N k (h (x i))).
  by rewrite -dotZ; apply: eq_dot => i; rewrite /v idp // mulr_ge0.
by rewrite normrM (ger0_norm c0).
Qed.
End Lower.

Theorem depth_lower (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R) (m : nat) (x : 'I_m -> X) (k : nat) :
  layered N -> (1 < k)%N ->
  (forall s, phi N s = @relu R) \/ (forall s, phi N s = fun y => `|y|) ->
  Lam N k.+1 k * root_q (p N) (n N k) * Rad x (H Psi k) <= Rad x (H Psi k.+1).
Proof.
move=> lay k1 act; have k0 := ltnW k1.
have lb s : locally_bounded (phi N s).
  by case: act => ->; [exact: splits_bounded (@splits_relu R) | move=> K; exists K => y; rewrite normr_id].
apply: le_trans (Rad_ge_Y Psi x lb k0); apply: ler_wpmul2l; first exact: Lamq_ge0.
rewrite ler_wpmul2l ?invr_ge0 ?ler0n //; apply: E_le => e; case: k k1 k0 => [|k] // k1 _.
apply: (Y_ge_sup Psi x lb) => // y; first by case: act => ->; rewrite ?normr_ge0 // /relu le_maxr lexx orbT.
by case: act => -> y0; [rewrite /relu max_l | rewrite ger0_norm].
Qed.

Theorem depth_lower_half (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R) (m : nat) (x : 'I_m -> X) (k : nat) :
  (0 < k)%N -> (forall s, phi N s = @relu R) ->
  Lam N k.+1 k * root_q (p N) (n N k) * Rad x (H Psi k) / 2%:R <= Rad x (H Psi k.+1).
Proof.
move=> k0 act; have lb s : locally_bounded (phi N s) by rewrite act; exact: splits_bounded (@splits_relu R).
apply: le_trans (Rad_ge_Y Psi x lb k0); rewrite -mulrA ler_wpmul2l ?Lamq_ge0 //.
rewrite ler_pdivr_mulr ?ltr0n // /Rad /Rad_abs -mulrA ler_wpmul2l ?invr_ge0 ?ler0n // mulrC -E_scale; apply: E_le => e.
apply: Sup_le => [|h hh]; first exact: H_nonempty.
have le1 := Y_ub x lb e k0 hh; have le2 := Y_ub x lb e k0 (H_opp hh).
have -> : dot e (at_sample x h) = dot e (fun i => phi N k (h (x i))) - dot e (fun i => phi N k (- h (x i))).
  rewrite -dotN -dotD; apply: eq_dot => i; rewrite act !reluE /leaky /at_sample oppr_ge0 !mul0r.
  have [y0|y0] := leP 0 (h (x i)); last by rewrite (ltW y0) sub0r opprK.
  by case: ifP => y1; rewrite ?oppr0 ?addr0 // opprK (le_anti (introT andP (conj y1 y0))) addr0.
have h1 := le_trans (ler_norm _) le1; have h2 : - dot e (fun i => phi N k (- h (x i))) <= Y Psi x k e.
  by apply: le_trans le2; rewrite -normrN ler_norm.
by rewrite mulr_natl mulr2n; exact: ler_add.
Qed.
