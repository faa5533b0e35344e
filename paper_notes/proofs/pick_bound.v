(* ε(k) of pick-certificate: for k < N the one root in (0, 1) of (δ/N) Σ_{k<=m<N} [C(m,k)/C(N,k)] (1-ε)^-(N-m) = 1, which is
   δ P[Bin(N, ε) > k] = N ε P[Bin(N, ε) = k]; it rises in k and falls in N, and whatever makes the left side 1 or more is not below it. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import zify.
From mathcomp.algebra_tactics Require Import ring.
From mathcomp.classical Require Import boolp classical_sets.
From mathcomp.analysis Require Import reals.
From AdaNet Require Import signs distributions symmetrisation held_out.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.

Section PickBound.
Variable R : realType.
Implicit Types (delta p : R) (N k m : nat).
Definition pick_sum N k delta p : R := delta / N%:R * \sum_(k <= m < N) 'C(m, k)%:R / 'C(N, k)%:R * (1 - p) ^- (N - m).
Definition pick_bound N k delta : R := if (k < N)%N then sup [set p | 0 <= p < 1 /\ pick_sum N k delta p <= 1] else 1.

Let level N k delta := [set p | 0 <= p < 1 /\ pick_sum N k delta p <= 1].
Let level_ub N k delta : ubound (level N k delta) 1. Proof. by move=> p [/andP[_ /ltW]]. Qed.

Lemma pick_sum_grows N k delta p p' : (k < N)%N -> 0 < delta -> p < p' -> p' < 1 -> pick_sum N k delta p < pick_sum N k delta p'.
Proof.
move=> kN d0 pp p1; have q0 : 0 < 1 - p' by rewrite subr_gt0.
have qq : 1 - p' < 1 - p by rewrite ltr_add2l ltr_opp2.
have q0' := lt_trans q0 qq; have N0 : 0 < N%:R :> R by rewrite ltr0n (leq_ltn_trans _ kN).
have CN : 0 < 'C(N, k)%:R^-1 :> R by rewrite invr_gt0 ltr0n bin_gt0 ltnW.
rewrite /pick_sum ltr_pmul2l ?divr_gt0 // [X in X < _]big_ltn // [X in _ < X]big_ltn //; apply: ltr_le_add.
  by rewrite binn mul1r ltr_pmul2l // ltf_pinv ?posrE ?exprn_gt0 // ltr_expn2r ?subn_eq0 -?ltnNge ?nnegrE ?ltW // -leqNgt.
apply: ler_sum => m _; rewrite ler_wpmul2l ?mulr_ge0 ?ler0n ?(ltW CN) // lef_pinv ?posrE ?exprn_gt0 //.
by rewrite ler_expn2r ?nnegrE ?ltW.
Qed.
Lemma pick_bound_root N k delta p : (k < N)%N -> 0 < delta -> 0 <= p < 1 -> pick_sum N k delta p = 1 -> pick_bound N k delta = p.
Proof.
move=> kN d0 p01 root; rewrite /pick_bound kN; apply/le_anti/andP; split; last first.
  by apply: sup_ub; [exists 1; exact: level_ub | split=> //; rewrite root].
apply: sup_le_ub; first by exists p; split=> //; rewrite root.
move=> p' [/andP[_ p1] le1]; rewrite leNgt; apply/negP => lt; have := pick_sum_grows kN d0 lt p1.
by rewrite root ltNge le1.
Qed.
Theorem pick_root N k delta : (k < N)%N -> 0 < delta < 1 ->
  [/\ 0 < pick_bound N k delta < 1, pick_sum N k delta (pick_bound N k delta) = 1 &
      forall p, 0 <= p < 1 -> pick_sum N k delta p = 1 -> p = pick_bound N k delta].
Proof.
move=> kN /andP[d0 d1]; have N0 : 0 < N%:R :> R by rewrite ltr0n (leq_ltn_trans _ kN).
have CN : 0 < 'C(N, k)%:R :> R by rewrite ltr0n bin_gt0 ltnW.
pose h : {poly R} := (delta / N%:R) *: (\sum_(k <= m < N) ('C(m, k)%:R / 'C(N, k)%:R) *: (1 - 'X) ^+ (m - k)) - (1 - 'X) ^+ (N - k).
have hE x : h.[x] = delta / N%:R * (\sum_(k <= m < N) 'C(m, k)%:R / 'C(N, k)%:R * (1 - x) ^+ (m - k)) - (1 - x) ^+ (N - k).
  rewrite /h !hornerE horner_sum; congr (_ * _ - _); last by rewrite ?horner_exp !hornerE.
  by apply: eq_bigr => m _; rewrite hornerZ horner_exp !hornerE.
have hs x : x < 1 -> h.[x] = (1 - x) ^+ (N - k) * (pick_sum N k delta x - 1).
  move=> x1; have q0 : 1 - x != 0 by rewrite gt_eqF // subr_gt0.
  rewrite hE mulrBr mulr1 /pick_sum mulrCA; congr (_ * _ - _); rewrite mulr_sumr big_nat [RHS]big_nat; apply: eq_bigr => m /andP[km mN].
  have -> : (N - k = (m - k) + (N - m))%N by rewrite addnC addnBA // subnK // ltnW.
  rewrite exprD mulrCA -[_ * _ ^- _]mulrA mulfV ?mulr1 // expf_neq0 //.
have at0 : pick_sum N k delta 0 < 1.
  apply: le_lt_trans d1; rewrite /pick_sum mulrAC ler_pdivr_mulr // ler_pmul2l //.
  apply: (@le_trans _ _ (\sum_(k <= m < N) 1)); last by rewrite sumr_const_nat ler_nat leq_subr.
  rewrite big_nat [X in _ <= X]big_nat; apply: ler_sum => m /andP[_ mN].
  by rewrite subr0 expr1n invr1 mulr1 ler_pdivr_mulr // mul1r ler_nat leq_bin2l // ltnW.
have h0 : h.[0] < 0 by rewrite hs ?ltr01 // subr0 expr1n mul1r subr_lt0.
have h1 : 0 < h.[1].
  rewrite hE subrr [(0 ^+ (N - k))]expr0n subn_eq0 leqNgt kN subr0 mulr_gt0 ?divr_gt0 // big_ltn //.
  rewrite subnn expr0 binn mulr1 mul1r ltr_paddr ?invr_gt0 // big_nat; apply: sumr_ge0 => m _.
  by rewrite mulr_ge0 ?divr_ge0 ?ler0n ?exprn_ge0.
have [x /andP[x0 x1] /rootP xr] := @poly_ivt _ h 0 1 ler01 (introT andP (conj (ltW h0) (ltW h1))).
have xp : 0 < x by rewrite lt_def x0 andbT; apply: contra_eq_neq xr => ->; rewrite lt_eqF.
have x1' : x < 1 by rewrite lt_def x1 andbT eq_sym; apply: contra_eq_neq xr => ->; rewrite gt_eqF.
have root : pick_sum N k delta x = 1.
  apply/eqP; rewrite -subr_eq0; move/eqP: xr; rewrite hs // mulf_eq0 expf_eq0 => /orP[/andP[_]|//].
  by rewrite gt_eqF // subr_gt0.
have x01 : 0 <= x < 1 by rewrite x0.
rewrite (pick_bound_root kN d0 x01 root) xp x1'; split=> // p p01 pr.
by rewrite -(pick_bound_root kN d0 p01 pr) (pick_bound_root kN d0 x01 root).
Qed.
(* an upper value of ε: one that makes the sum 1 or more *)
Theorem pick_bound_le N k delta p : (k < N)%N -> 0 < delta < 1 -> 0 <= p < 1 -> 1 <= pick_sum N k delta p -> pick_bound N k delta <= p.
Proof.
move=> kN d01 /andP[p0 p1] ge1; have [/andP[_ b1] root _] := pick_root kN d01; have /andP[d0 _] := d01.
by rewrite leNgt; apply/negP => lt; have := pick_sum_grows kN d0 lt b1; rewrite root ltNge ge1.
Qed.

Lemma pick_tail N k p : \sum_(k <= m < N) 'C(m, k)%:R * p ^+ k.+1 * (1 - p) ^+ (m - k) = 1 - cdf N k p.
Proof.
elim: N => [|N IH].
  rewrite big_geq // /cdf big_ord_recl /pmf /= bin0 !expr0 !mulr1 big1 ?addr0 ?subrr // => i _.
  by rewrite bin0n /= !mul0r.
have -> : cdf N.+1 k p = cdf N k p - p * pmf N k p.
  elim: k {IH} => [|k IH]; first by rewrite /cdf !big_ord1 /= pmf_rec; move: (pmf N 0 p) => u; ring.
  by rewrite /cdf big_ord_recr /= -/(cdf N.+1 k p) IH pmf_rec [in RHS]big_ord_recr /= -/(cdf N k p); move: (cdf N k p) (pmf N k p) (pmf N k.+1 p) => x y z; ring.
rewrite opprB addrA addrAC -IH; have [kN|Nk] := leqP k N.
  by rewrite big_nat_recr //= /pmf exprS; congr (_ + _); move: ('C(N, k)%:R) (p ^+ k) (_ ^+ (N - k)) => x y z; ring.
by rewrite !big_geq // 1?ltnW // /pmf bin_small // !mul0r mulr0 addr0.
Qed.
Theorem pick_sum_tail N k delta p : (k < N)%N -> 0 < p < 1 -> pick_sum N k delta p = delta * (1 - cdf N k p) / (N%:R * p * pmf N k p).
Proof.
move=> kN /andP[p0 p1]; have N0 : N%:R != 0 :> R by rewrite pnatr_eq0 -lt0n (leq_ltn_trans _ kN).
have CN : 'C(N, k)%:R != 0 :> R by rewrite pnatr_eq0 -lt0n bin_gt0 ltnW.
have q0 : 1 - p != 0 by rewrite gt_eqF // subr_gt0.
have pz : p != 0 by rewrite gt_eqF.
rewrite -pick_tail /pick_sum /pmf -!mulrA; congr (_ * _).
rewrite mulr_sumr mulr_suml big_nat [RHS]big_nat; apply: eq_bigr => m /andP[km mN].
have -> : (N - k = (m - k) + (N - m))%N by rewrite addnC addnBA // subnK // ltnW.
have u0 : (1 - p) ^+ (m - k) != 0 by rewrite expf_neq0.
have v0 : (1 - p) ^+ (N - m) != 0 by rewrite expf_neq0.
have z0 : p ^+ k != 0 by rewrite expf_neq0.
rewrite exprD exprS; move: N0 CN u0 v0 z0 pz; move: (N%:R) ('C(N, k)%:R) ('C(m, k)%:R) (_ ^+ (m - k)) (_ ^+ (N - m)) (p ^+ k) => a b b' u v z.
by move=> *; field; do ?[apply/andP; split=> //].
Qed.

(* C(m,k)/C(N,k) falls in k *)
Lemma bin_ratio m N k k' : (m <= N)%N -> (k <= k')%N -> ('C(m, k') * 'C(N, k) <= 'C(m, k) * 'C(N, k'))%N.
Proof.
move=> mN /subnKC <-; elim: (k' - k)%N => [|d IH]; first by rewrite addn0.
rewrite addnS -(leq_pmul2l (ltn0Sn (k + d))) mulnA mul_bin_left -mulnA [X in (_ <= X)%N]mulnCA mul_bin_left [X in (_ <= X)%N]mulnCA.
by apply: leq_mul => //; exact: leq_sub2r.
Qed.
(* counting too many is safe *)
Theorem pick_bound_rises N k k' delta : 0 < delta < 1 -> (k <= k')%N -> pick_bound N k delta <= pick_bound N k' delta.
Proof.
move=> d01 kk; have [kN|Nk] := ltnP k' N; last first.
  rewrite [X in _ <= X]/pick_bound ltnNge Nk /=; have [kN|Nk'] := ltnP k N; last by rewrite /pick_bound ltnNge Nk'.
  by have [/andP[_ /ltW]] := pick_root kN d01.
have kN' := leq_ltn_trans kk kN; have [/andP[b0 b1] root _] := pick_root kN d01; have /andP[d0 _] := d01.
have q0 : 0 < 1 - pick_bound N k' delta by rewrite subr_gt0.
apply: pick_bound_le => //; first by rewrite (ltW b0).
rewrite -root /pick_sum ler_wpmul2l ?divr_ge0 ?ler0n ?(ltW d0) // [X in _ <= X](big_cat_nat _ _ _ kk (ltnW kN)) /=.
have t0 m i : 0 <= 'C(m, i)%:R / 'C(N, i)%:R * (1 - pick_bound N k' delta) ^- (N - m).
  by rewrite mulr_ge0 ?divr_ge0 ?ler0n // invr_ge0 exprn_ge0 // ltW.
apply: ler_paddl; first exact: sumr_ge0.
rewrite big_nat [X in _ <= X]big_nat; apply: ler_sum => m /andP[km mN].
rewrite ler_wpmul2r ?invr_ge0 ?exprn_ge0 ?(ltW q0) // ler_pdivr_mulr ?ltr0n ?bin_gt0 1?ltnW // mulrAC ler_pdivl_mulr ?ltr0n ?bin_gt0 1?ltnW //.
by rewrite -!natrM ler_nat bin_ratio // ltnW.
Qed.

(* the sum over m by parts: every coefficient over N C(N,k) rises in N *)
Lemma bin_step m N k : (m <= N)%N -> (k <= N)%N -> ('C(m, k.+1) * (N.+1 * 'C(N.+1, k)) <= 'C(m.+1, k.+1) * (N * 'C(N, k)))%N.
Proof.
move=> mN kN; have [km|mk] := ltnP k m; last by rewrite bin_small.
have f1 : (N.+1 * 'C(N, k) = (N.+1 - k) * 'C(N.+1, k))%N by rewrite -mul_bin_down.
have f2 : (m.+1 * 'C(m, k.+1) = (m - k) * 'C(m.+1, k.+1))%N by rewrite -(subSS k m) -mul_bin_down.
have main : ((m - k) * (N.+1 * N.+1) <= m.+1 * (N.+1 - k) * N)%N.
  have h1 : ((m - k) * N.+1 <= m.+1 * (N - k))%N.
    rewrite -{2}(subnK (ltnW km)) -{1}(subnK kN); have := leq_sub2r k mN; move: (m - k)%N (N - k)%N => v u vu.
    by rewrite -!addnS !(mulnDr, mulnDl) [(v * u)%N]mulnC leq_add2l [X in (_ <= X)%N]mulnC leq_mul2r vu orbT.
  have h2 : ((N - k) * N.+1 <= (N - k).+1 * N)%N by rewrite mulnS mulSn leq_add2r leq_subr.
  rewrite mulnA subSn //; apply: leq_trans (leq_mul h1 (leqnn N.+1)) _.
  by rewrite -!mulnA leq_mul2l h2 orbT.
have pos : (0 < m.+1 * (N.+1 - k))%N by rewrite muln_gt0 subn_gt0 ltnS.
rewrite -(leq_pmul2l pos); move: f1 f2 main {pos mN kN km}.
move: ('C(m, k.+1)) ('C(m.+1, k.+1)) ('C(N, k)) ('C(N.+1, k)) (N.+1 - k)%N (m - k)%N => a b c d u v f1 f2 main.
have -> : (m.+1 * u * (a * (N.+1 * d)) = m.+1 * a * (N.+1 * (u * d)))%N by nia.
have -> : (m.+1 * u * (b * (N * c)) = m.+1 * u * N * (b * c))%N by nia.
have -> : (m.+1 * a * (N.+1 * (u * d)) = v * (N.+1 * N.+1) * (b * c))%N by rewrite f2 -f1; nia.
by rewrite leq_mul2r main orbT.
Qed.
Lemma sum_by_parts N k (x : R) : \sum_(0 <= m < N) 'C(m, k)%:R * x ^+ (N - m) =
  x * 'C(N, k.+1)%:R + \sum_(0 <= m < N) 'C(m, k.+1)%:R * (x ^+ (N - m).+1 - x ^+ (N - m)).
Proof.
elim: N => [|N IH]; first by rewrite !big_geq // bin0n mulr0 addr0.
have up (F : nat -> R) : \sum_(0 <= m < N) F m * x ^+ (N.+1 - m) = x * \sum_(0 <= m < N) F m * x ^+ (N - m).
  by rewrite mulr_sumr big_nat [RHS]big_nat; apply: eq_bigr => m /andP[_ mN]; rewrite subSn 1?ltnW // exprS mulrCA.
have up' (F : nat -> R) : \sum_(0 <= m < N) F m * (x ^+ (N.+1 - m).+1 - x ^+ (N.+1 - m)) = x * \sum_(0 <= m < N) F m * (x ^+ (N - m).+1 - x ^+ (N - m)).
  rewrite mulr_sumr big_nat [RHS]big_nat; apply: eq_bigr => m /andP[_ mN]; rewrite subSn 1?ltnW // !exprS.
  by move: (x ^+ (N - m)) (F m) => y z; ring.
rewrite !big_nat_recr //= up up' IH subSnn expr1 binS natrD expr2.
by move: (\sum_(0 <= m < N) _) ('C(N, k.+1)%:R) ('C(N, k)%:R) => y a b; ring.
Qed.
Lemma pick_sum_step N k delta p : (k < N)%N -> 0 <= delta -> 0 <= p < 1 -> pick_sum N k delta p <= pick_sum N.+1 k delta p.
Proof.
move=> kN d0 /andP[p0 p1]; set x := (1 - p)^-1; have q0 : 0 < 1 - p by rewrite subr_gt0.
have x1 : 1 <= x by rewrite invf_ge1 // ler_subl_addr ler_addl.
have xp : 0 <= x by rewrite (le_trans ler01).
have sumE M : (k < M)%N -> pick_sum M k delta p = delta * (\sum_(0 <= m < M) 'C(m, k)%:R * x ^+ (M - m)) / (M * 'C(M, k))%:R.
  move=> kM; rewrite /pick_sum natrM invfM -!mulrA; congr (_ * _); rewrite [RHS]mulrCA; congr (_ * _).
  rewrite [in RHS](big_cat_nat _ _ _ (leq0n k) (ltnW kM)) /= [X in (X + _) / _]big_nat [X in (X + _) / _]big1 ?add0r => [|m /andP[_ mk]]; last by rewrite bin_small // mul0r.
  by rewrite mulr_suml; apply: eq_bigr => m _; rewrite exprVn mulrAC.
have pos M : (k < M)%N -> 0 < (M * 'C(M, k))%:R :> R by move=> kM; rewrite ltr0n muln_gt0 bin_gt0 (leq_ltn_trans _ kM) // ltnW.
have kN' : (k < N.+1)%N by rewrite ltnW.
rewrite !sumE // -!mulrA ler_wpmul2l // ler_pdivr_mulr ?pos // mulrAC ler_pdivl_mulr ?pos // !sum_by_parts.
rewrite [X in _ <= (_ + X) * _]big_nat_recl // bin0n mul0r add0r !mulrDl; apply: ler_add.
  by rewrite -!mulrA ler_wpmul2l // -!natrM ler_nat bin_step // ltnW.
rewrite !mulr_suml big_nat [X in _ <= X]big_nat; apply: ler_sum => m /andP[_ mN].
rewrite subSS ![_ * _ * (_ * _)%:R]mulrAC ler_wpmul2r //; first by rewrite subr_ge0 exprS ler_pemull ?exprn_ge0.
by rewrite -!natrM ler_nat bin_step // ltnW.
Qed.
Theorem pick_bound_falls N N' k delta : 0 < delta < 1 -> (N <= N')%N -> pick_bound N' k delta <= pick_bound N k delta.
Proof.
move=> d01 /subnKC <-; elim: (N' - N)%N => [|d IH]; first by rewrite addn0.
apply: le_trans IH; rewrite addnS; move: (N + d)%N => {d N'}N; have [kN|Nk] := ltnP k N; last first.
  rewrite [X in _ <= X]/pick_bound ltnNge Nk /=; have [kN|Nk'] := ltnP k N.+1; last by rewrite /pick_bound ltnNge Nk'.
  by have [/andP[_ /ltW]] := pick_root kN d01.
have [/andP[b0 b1] root _] := pick_root kN d01; have /andP[d0 _] := d01.
apply: pick_bound_le; rewrite ?(ltW b0) //; first exact: ltnW.
by rewrite -{1}root; apply: pick_sum_step; rewrite ?(ltW d0) ?(ltW b0).
Qed.
End PickBound.
