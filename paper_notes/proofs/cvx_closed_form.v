(* cvx-closed-form, corrected: u_i = Λ sgn(ε_i)|ε_i|^(q-1)/||ε||_q^(q-1) has ||u||_p = Λ, u·ε = Λ||ε||_q, and no unit of the ball does better;
   p = 1: all weight on one argmax. The printed form, without the sign, is not even of the right sign. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From mathcomp.classical Require Import boolp mathcomp_extra.
From mathcomp.analysis Require Import reals sequences exp.
From AdaNet Require Import signs norms.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section ClosedForm.
Variables (R : realType) (N : nat) (L : R) (e : 'I_N -> R).
Hypotheses (L0 : 0 <= L) (e_neq0 : exists j, e j != 0).

(* q finite; q = 1 gives Λ sgn(ε_i), that is p = inf *)
Definition closed_form (b : R) (b1 : 1 <= b) i : R :=
  L * Num.sg (e i) * powp `|e i| (b - 1) / powp (norm (Finite b1) e) (b - 1).
(* p = 1 *)
Definition closed_form_argmax (j i : 'I_N) : R := if i == j then L * Num.sg (e j) else 0.

Lemma norm_e_gt0 q : 0 < norm q e.
Proof.
rewrite lt_def norm_ge0 andbT; have [j] := e_neq0; apply: contraNneq => n0.
by rewrite (norm_eq0 n0).
Qed.
Let sg_abs (x : R) : x * Num.sg x = `|x|. Proof. by rewrite mulrC -normrEsg. Qed.

Lemma closed_form_attains b (b1 : 1 <= b) : \sum_i closed_form b1 i * e i = L * norm (Finite b1) e.
Proof.
set n := norm _ e; have n0 : 0 < n by exact: norm_e_gt0.
rewrite (eq_bigr (fun i => L / powp n (b - 1) * powp `|e i| b)) => [|i _]; last first.
  rewrite /closed_form -/n (_ : powp `|e i| b = `|e i| * powp `|e i| (b - 1)).
    move: (powp `|e i| (b - 1)) (powp n (b - 1))^-1 => d c; rewrite -sg_abs; move: (e i) (Num.sg (e i)) => x a; ring.
  by rewrite -{2}[`|e i|]powp1 // -powpD // addrCA subrr addr0.
have nb : powp n b = powp n (b - 1) * n by rewrite -{3}[n]powp1 ?(ltW n0) // -powpD ?(ltW n0) // subrK.
by rewrite -mulr_sumr norm_powp -/n nb mulrA divfK // gt_eqF // powp_gt0.
Qed.

(* ||u||_p = Λ: |u_i| = (Λ/||ε||^(q-1)) |ε_i|^(q-1), p (q-1) = q *)
Lemma closed_form_norm p b (b1 : 1 <= b) : conjugate p (Finite b1) -> norm p (closed_form b1) = L.
Proof.
set n := norm (Finite b1) e; have n0 : 0 < n by exact: norm_e_gt0.
have b0 : 0 < b := lt_le_trans ltr01 b1.
have K0 : 0 < powp n (b - 1) by exact: powp_gt0.
have ab i : `|closed_form b1 i| = `|(L / powp n (b - 1)) * powp `|e i| (b - 1)|.
  rewrite /closed_form -/n !normrM normr_sg; have [->|ei] := eqVneq (e i) 0; last by rewrite mulr1 -!mulrA; congr (_ * _); rewrite mulrC.
  by rewrite normr0 powp0 normr0 !mulr0 mul0r.
rewrite (eq_norm p ab) norm_scale ger0_norm ?divr_ge0 ?powp_ge0 // => pq.
suff -> : norm p (fun i => powp `|e i| (b - 1)) = powp n (b - 1) by rewrite divfK // gt_eqF.
case: p pq => [a a1|] /= pq.
  have a0 : 0 < a := lt_le_trans ltr01 a1.
  have ab1 : (b - 1) * a = b.
    have := pq; move: (gt_eqF a0) (gt_eqF b0) => ha hb /(congr1 (fun x => x * (a * b))).
    rewrite mul1r mulrDl mulrA mulVf ?ha // mul1r [b^-1 * _]mulrCA mulVf ?hb // mulr1 => ee.
    by rewrite mulrBl mul1r mulrC -ee addrK.
  rewrite (eq_bigr (fun i => powp `|e i| b)) => [|i _]; last by rewrite ger0_norm ?powp_ge0 // powp_powp // ab1.
  by rewrite (norm_powp b1) powp_powp ?(ltW n0) //; congr powp; rewrite -{1}ab1 mulfK ?gt_eqF.
rewrite pq subrr powp_x0 //; apply/eqP; rewrite eq_le; apply/andP; split.
  apply: bigmax_le => [|i _]; rewrite ?ler01 // ger0_norm ?powp_ge0 //.
  by have [->|ei] := eqVneq (e i) 0; rewrite ?normr0 ?powp0 ?ler01 // powp_x0 ?normr_gt0.
have [j ej] := e_neq0; apply: le_trans (le_bigmax _ (fun i => `|powp `|e i| 0|) j).
by rewrite powp_x0 ?normr_gt0 // normr1.
Qed.

Theorem cvx_closed_form p b (b1 : 1 <= b) : conjugate p (Finite b1) ->
  [/\ norm p (closed_form b1) = L, \sum_i closed_form b1 i * e i = L * norm (Finite b1) e &
      forall u, norm p u <= L -> \sum_i u i * e i <= \sum_i closed_form b1 i * e i].
Proof.
move=> pq; split=> [||u uL]; [exact: closed_form_norm | exact: closed_form_attains |].
rewrite closed_form_attains; apply: le_trans (ler_norm _) _; apply: le_trans (hoelder_abs u e pq) _.
by rewrite ler_wpmul2r // norm_ge0.
Qed.

Theorem cvx_closed_form_1 (p : exponent R) j : conjugate p Infinite -> (forall i, `|e i| <= `|e j|) ->
  [/\ norm p (closed_form_argmax j) = L, \sum_i closed_form_argmax j i * e i = L * norm Infinite e &
      forall u, norm p u <= L -> \sum_i u i * e i <= \sum_i closed_form_argmax j i * e i].
Proof.
move=> pq jm; have ej : e j != 0 by have [i ei] := e_neq0; rewrite -normr_gt0 (lt_le_trans _ (jm i)) ?normr_gt0.
have nE : norm Infinite e = `|e j|.
  apply/eqP; rewrite /= eq_le; apply/andP; split; last exact: (le_bigmax _ (fun i => `|e i|)).
  by apply: bigmax_le => // i _.
have att : \sum_i closed_form_argmax j i * e i = L * norm Infinite e.
  rewrite nE (bigD1 j) //= big1 => [|i /negbTE ij]; last by rewrite /closed_form_argmax ij mul0r.
  by rewrite /closed_form_argmax eqxx addr0 -mulrA [Num.sg _ * _]mulrC sg_abs.
split=> // [|u uL]; last first.
  rewrite att; apply: le_trans (ler_norm _) _; apply: le_trans (hoelder_abs u e pq) _.
  by rewrite ler_wpmul2r // norm_ge0.
case: p pq => [a a1|] //= ->; rewrite invr1 (bigD1 j) //= big1 => [|i /negbTE ij]; last first.
  by rewrite /closed_form_argmax ij normr0 powp0.
by rewrite /closed_form_argmax eqxx addr0 normrM normr_sg ej mulr1 ger0_norm // !powp1 ?powp_ge0.
Qed.
End ClosedForm.

(* some unit of the ball attains Λ||ε||_q, ε = 0 or not *)
Lemma attained (R : realType) (N : nat) (L : R) (e : 'I_N -> R) (p q : exponent R) : 0 <= L -> conjugate p q ->
  exists2 u, norm p u <= L & \sum_i u i * e i = L * norm q e.
Proof.
move=> L0 pq; have [[j ej]|e0] := pselect (exists j, e j != 0); last first.
  have z i : e i = 0 by apply: contra_notP e0 => /eqP ei; exists i.
  exists (fun=> 0); first by rewrite norm0.
  rewrite big1 => [|i _]; last by rewrite mul0r.
  by rewrite (eq_norm q (v := fun=> 0)) ?norm0 ?mulr0 // => i; rewrite z.
have en : exists j, e j != 0 by exists j.
case: q pq => [b b1|] pq.
  by have [nu at_ _] := cvx_closed_form L0 en pq; exists (closed_form L e b1); rewrite ?nu.
pose jm := [arg max_(i > j) `|e i|]%O.
have hm i : `|e i| <= `|e jm| by rewrite /jm; case: arg_maxP => // j1 _; apply.
by have [nu at_ _] := cvx_closed_form_1 L0 en pq hm; exists (closed_form_argmax L e jm); rewrite ?nu.
Qed.

(* the print: no sign, q/p in the exponent of the norm. ε = -1, N = 1, p = q = 2 *)
Theorem cvx_sign (R : realType) (L : R) (two : 1 <= 2%:R :> R) : 0 < L ->
  \sum_(i < 1) (L * powp `|-1| (2%:R - 1) / powp (norm (Finite two) (fun _ : 'I_1 => -1)) (2%:R / 2%:R)) * -1 < 0.
Proof.
move=> L0; rewrite big_ord1 mulrN1 oppr_lt0 normrN1 powp_1 mulr1 divr_gt0 // powp_gt0 //=.
by rewrite big_ord1 normrN1 powp_gt0 // powp_1 ltr01.
Qed.
