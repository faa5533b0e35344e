(* margin-bound-empirical, distributions of finite support: margin-bound at δ/2 with R_S(G_k) + M_k sqrt(log(4l/δ)/(2m)) for R_m(G_k).
   It fails with probability at most 3δ/4; the quarter that is left is for signs that are drawn. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From mathcomp.classical Require Import boolp classical_sets.
From mathcomp.analysis Require Import reals sequences exp.
From AdaNet Require Import signs suprema families distributions symmetrisation margin_bound one_class.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.

Section Empirical.
Variables (R : realType) (I : finType) (w : I -> R) (l m : nat) (G : 'I_l -> set (I -> R)) (M : 'I_l -> R) (B rho delta : R).
Hypotheses (w0 : forall i, 0 <= w i) (w1 : \sum_i w i = 1) (m0 : (0 < m)%N) (l0 : (0 < l)%N) (rho0 : 0 < rho) (d01 : 0 < delta < 1).
Hypotheses (G0 : forall k, G k (fun=> 0)) (Gneg : forall k g, G k g -> G k (fun a => - g a)).
Hypotheses (GM : forall k g a, G k g -> `|g a| <= M k) (MB : forall k, M k <= B).
Implicit Types (S : {ffun 'I_m -> I}) (th : ensemble R I l).
Let RS S k : R := Rad (fun i => S i) (G k).
Let im : 0 <= (m%:R^-1 : R). Proof. by rewrite invr_ge0 ler0n. Qed.
Let Gne k : G k !=set0. Proof. by exists (fun=> 0). Qed.
Let bG k S : bounded_at (G k) (at_sample (fun i => S i)).
Proof. by move=> i; exists (M k) => g Gg; exact: (GM _ Gg). Qed.
Let RS_ge0 S k : 0 <= RS S k.
Proof.
rewrite mulr_ge0 //; apply: E_ge0 => s; apply: le_trans (Sup_ub (bounded_dot s (bG k S)) (G0 k)).
by rewrite /dot big1 // => i _; rewrite mulr0.
Qed.
Let M0 k : 0 <= M k.
Proof. by have [i _|n] := pickP I; [apply: le_trans (normr_ge0 _) (GM i (G0 k)) | move: w1; rewrite big_pred0 // => /eqP; rewrite eq_sym oner_eq0]. Qed.

(* R_S is rarely below R_m by more than M_k sqrt(log(1/δ')/(2m)) *)
Lemma empirical_complexity k (d : R) : 0 < d < 1 ->
  Ex w (fun S => ((RS S k + M k * Num.sqrt (ln d^-1 / (2%:R * m%:R)) < Rm w m G k)%R)%:R) <= d.
Proof.
move=> dd; have /andP[dp _] := dd; have [Mk|Mk] := eqVneq (M k) 0.
  have Rm0 : Rm w m G k <= 0.
    rewrite -(Ex_const w1 m 0); apply: Ex_le => // S; rewrite mulr_ge0_le0 // -(E_const m 0); apply: E_le => s.
    apply: Sup_le => // g Gg; rewrite /dot big1 // => i _; have := GM (S i) Gg; rewrite Mk normr_le0 => /eqP e.
    by rewrite /at_sample e mulr0.
  rewrite (eq_Ex w (g := fun=> 0)) ?Ex_const ?(ltW dp) // => S.
  by rewrite Mk mul0r addr0 ltNge (le_trans Rm0 (RS_ge0 S k)).
apply: (tail w0 w1 m0 (f := fun S => Rm w m G k - RS S k) (c := M k)) => // [|S S' i SS||S].
- by rewrite lt_def Mk M0.
- rewrite (_ : _ - (_ - _) = RS S' k - RS S k); last by ring.
  rewrite -mulrBr mulrC ler_wpmul2r // ler_subl_addl.
  apply: (one_point (Gne k) (bG k S') (bG k S) (i := i)) => [g j ji|g Gg]; first by rewrite /at_sample SS.
  exact: (GM _ Gg).
- rewrite (eq_Ex w (g := fun S => Rm w m G k + -1 * RS S k)) => [|S]; last by rewrite mulN1r.
  by rewrite Ex_add Ex_const // Ex_scale mulN1r subrr.
- by move=> lt; rewrite ler_subr_addl ltW.
Qed.

Theorem margin_bound_empirical : Ex w (fun S => `[< exists th, admissible G th /\
  ramp_loss rho S th + 2%:R / rho * (\sum_t `|weight t| * (Rad (fun i => S i) (G (layer (e := th) t)) + M (layer t) * Num.sqrt (ln (4%:R * l%:R / delta) / (2%:R * m%:R))))
    + 2%:R * B / rho * Num.sqrt (2%:R * ln l%:R / m%:R) + Num.sqrt (ln (2%:R / delta) / (2%:R * m%:R)) < risk w th >]%:R) <= 3%:R / 4%:R * delta.
Proof.
have /andP[d0 d1] := d01; have L0 : 0 < l%:R :> R by rewrite ltr0n.
set e := Num.sqrt (ln (4%:R * l%:R / delta) / _).
pose low S k := (RS S k + M k * e < Rm w m G k)%R.
have low0 S (Q : pred 'I_l) : 0 <= \sum_(k | Q k) (low S k)%:R :> R by apply: sumr_ge0 => k _; exact: ler0n.
pose eps := 2%:R * B / rho * Num.sqrt (2%:R * ln l%:R / m%:R) + Num.sqrt (ln (delta / 2%:R)^-1 / (2%:R * m%:R)).
apply: (@le_trans _ _ (Ex w (fun S => (failure w G rho eps S)%:R + \sum_k (low S k)%:R))).
  apply: Ex_le => // S; case: asboolP => [[th [ath lt]]|_]; last by rewrite addr_ge0 ?ler0n.
  have [[k lk]|none] := pselect (exists k, low S k).
    by rewrite (bigD1 k) //= lk -[X in X <= _]add0r ler_add ?ler0n // ler_addl.
  rewrite /failure asboolT ?ler_addl //; exists th; split=> //; apply: le_lt_trans lt.
  rewrite /eps invf_div -!addrA ler_add2l; apply: ler_add => //.
  rewrite /penalty mulrA ler_wpmul2l ?divr_ge0 ?ler0n ?(ltW rho0) //; apply: ler_sum => t _; rewrite ler_wpmul2l //.
  by rewrite leNgt; apply/negP => lt; apply: none; exists (layer t).
have dh : 0 < delta / 2%:R < 1 by rewrite divr_gt0 ?ltr0n //= ltr_pdivr_mulr ?ltr0n // mul1r (lt_trans d1) // ltr1n.
have GB k g a : G k g -> `|g a| <= B by move=> Gg; apply: le_trans (GM _ Gg) (MB k).
rewrite Ex_add Ex_sum; have h1 := margin_bound w0 w1 m0 l0 rho0 G0 Gneg GB dh.
have h2 k : Ex w (fun S => (low S k)%:R) <= delta / (4%:R * l%:R).
  have dk : 0 < delta / (4%:R * l%:R) < 1.
    rewrite divr_gt0 ?mulr_gt0 ?ltr0n //= ltr_pdivr_mulr ?mulr_gt0 ?ltr0n // mul1r (lt_le_trans d1) // -natrM ler1n muln_gt0 l0 //.
  by have := empirical_complexity k dk; rewrite invf_div.
apply: le_trans (ler_add h1 (ler_sum _ (fun k _ => h2 k))) _; rewrite sumr_const card_ord -[_ *+ l]mulr_natl le_eqVlt; apply/orP; left; apply/eqP.
by move: (gt_eqF L0); move: (l%:R : R) => a ha; field; rewrite ha.
Qed.
End Empirical.
