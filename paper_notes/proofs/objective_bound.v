(* objective-bound, distributions of finite support: the paper's objective, for w that is not normalised, is a bound. With probability 1 - δ, for
   all w with W_M > 0, all ρ > 0 and all Φ with Φ(1-u) >= ramp_ρ(u),
     R(f) <= (1/m) Σ_i Φ(1 - y_i f(x_i)) + Σ_t |w_t| (2(1+η)/ρ) [R_m(G_{k(t)}) + M_{k(t)} sqrt(2 log l/m)]
             + sqrt([log(1/δ) + log(π²/3-1) + 2 log(2 + |log_{1+η}(W_M/ρ)|)]/(2m)).
   It is margin-bound-uniform at the j with W_M/(1+η)^j in (ρ/(1+η), ρ]. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From mathcomp.classical Require Import boolp classical_sets.
From mathcomp.analysis Require Import reals sequences exp trigo.
From AdaNet Require Import signs suprema exponential families distributions symmetrisation margin_bound one_class priors margin_bound_uniform slopes.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.

Lemma ramp_le (R : realType) (r rho u : R) : 0 < r -> r <= rho -> ramp r u <= ramp rho u.
Proof.
move=> r0 rr; have p0 := lt_le_trans r0 rr; have [u0|u0] := leP u 0.
  have one (s : R) : 0 < s -> ramp s u = 1.
    move=> s0; rewrite /ramp min_l; first by rewrite max_r // ler01.
    by rewrite ler_subr_addr ger_addl pmulr_lle0 // invr_gt0.
  by rewrite !one.
rewrite /ramp le_maxl !le_maxr lexx /= le_minr !le_minl lexx /=; apply/orP; right; apply/orP; right.
by rewrite ler_add2l ler_opp2 ler_pmul2l // ler_pinv ?inE ?unitfE ?gt_eqF.
Qed.

Section Objective.
Variables (R : realType) (I : finType) (w : I -> R) (l m : nat) (G : 'I_l -> set (I -> R)) (M : 'I_l -> R) (eta delta : R).
Hypotheses (w0 : forall i, 0 <= w i) (w1 : \sum_i w i = 1) (m0 : (0 < m)%N) (l0 : (0 < l)%N) (eta0 : 0 < eta) (d01 : 0 < delta < 1).
Hypotheses (G0 : forall k, G k (fun=> 0)) (Gneg : forall k g, G k g -> G k (fun a => - g a)).
Hypothesis GM : forall k g a, G k g -> `|g a| <= M k.
Let im : 0 <= (m%:R^-1 : R). Proof. by rewrite invr_ge0 ler0n. Qed.
Let Rm0 k : 0 <= Rm w m G k.
Proof.
rewrite -(Ex_const w1 m 0); apply: Ex_le => // S; rewrite mulr_ge0 //; apply: E_ge0 => s.
have B : bounded_on (G k) (fun h => dot s (at_sample (fun i => S i) h)) by apply: bounded_dot => i; exists (M k) => g Gg; exact: (GM _ Gg).
by apply: le_trans (Sup_ub B (G0 k)); rewrite /dot big1 // => i _; rewrite mulr0.
Qed.

Theorem objective_bound : Ex w (fun S : {ffun 'I_m -> I} => `[< exists (th : ensemble R I l) (rho : R) (Phi : R -> R),
  [/\ forall t, G (layer t) (unit_of (e := th) t), 0 < spread M th, 0 < rho, forall u, ramp rho u <= Phi (1 - u) &
    m%:R^-1 * (\sum_i Phi (1 - value th (S i)))
    + \sum_t `|weight t| * (2%:R * (1 + eta) / rho * (Rm w m G (layer (e := th) t) + M (layer t) * Num.sqrt (2%:R * ln l%:R / m%:R)))
    + Num.sqrt ((ln delta^-1 + (ln (pi ^+ 2 / 3%:R - 1) + 2%:R * ln (2%:R + `|log_to eta (spread M th / rho)|))) / (2%:R * m%:R)) < risk w th] >]%:R) <= delta.
Proof.
apply: le_trans (margin_bound_uniform w0 w1 m0 l0 eta0 d01 G0 Gneg GM); apply: Ex_le => // S.
case: asboolP => [[th [rho [Phi [Gth W0 r0 dom lt]]]]|_]; last exact: ler0n.
have [j [low high jx]] := on_grid eta0 W0 r0; rewrite asboolT ?lexx //; exists th, j; split=> //; apply: le_lt_trans lt.
set W := spread M th in W0 low high jx *; set Q := Num.sqrt (2%:R * _ / _); have Q0 : 0 <= Q by exact: sqrtr_ge0.
have s0 := scale_gt0 j eta0; have rj : 0 < W / scale eta j by rewrite divr_gt0.
apply: ler_add; last first.
  rewrite ler_wsqrtr // ler_pmul2r ?invr_gt0 ?mulr_gt0 ?ltr0n // !ler_add2l ler_pmul2l ?ltr0n // ler_ln ?posrE ?ltr0n //.
  by rewrite ltr_paddr ?ltr0n.
rewrite -addrA; apply: ler_add.
  rewrite ler_wpmul2l //; apply: ler_sum => i _; apply: le_trans (dom _); exact: ramp_le.
rewrite [X in _ <= X](eq_bigr (fun t => (1 + eta) / rho * (2%:R * (`|weight t| * Rm w m G (layer (e := th) t)) + 2%:R * Q * (`|weight t| * M (layer t))))); last first.
  by move=> t _; move: (Rm _ _ _ _) => x; ring.
rewrite -mulr_sumr big_split /= -!mulr_sumr -/(spread M th) -/W.
set T := \sum_t _; have T0 : 0 <= T by apply: sumr_ge0 => t _; rewrite mulr_ge0.
have turn (x y z q : R) : x != 0 -> y != 0 -> 2%:R / (x / y) * z + 2%:R * y * q = y / x * (2%:R * z + 2%:R * q * x).
  by move=> hx hy; field; rewrite hx hy.
by rewrite turn ?gt_eqF // ler_wpmul2r // addr_ge0 ?mulr_ge0 ?ler0n // ltW.
Qed.
End Objective.

(* e^x and log(1 + e^x) at ρ = 1 *)
Theorem surrogates_above_ramp (R : realType) (u : R) : ramp 1 u <= expR (1 - u) /\ ramp 1 u <= softplus (1 - u).
Proof.
rewrite /ramp divr1; move: (1 - u) => x; split.
  rewrite le_maxl ltW ?expR_gt0 //= le_minl; apply/orP; right; apply: le_trans (expR_ge1D x); by rewrite ler_addr ler01.
have e0 := expR_gt0 x; rewrite /softplus le_maxl ln_ge0 ?ler_addl ?(ltW e0) //= le_minl; apply/orP; right.
by rewrite -{1}[x]expK ler_ln ?posrE ?addr_gt0 ?ltr01 // ler_addr ler01.
Qed.
