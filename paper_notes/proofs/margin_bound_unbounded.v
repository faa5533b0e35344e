(* margin-bound-unbounded and unbounded-empirical, distributions of finite support: nothing is said of the range of h. Round the share of each
   layer, ||w_k||_1/W, up to a_k = (1+η)^-j_k, or to a_k = 0 where it is 0; π_k = 1/(2(j_k+1)(j_k+2)), or 1/2. With probability 1 - δ, for all w and
   all such roundings, R(f) <= ramp_ρ(f) + (2/ρ) Σ_k a_k R_m(G_k) + sqrt([log(1/δ) + Σ_k log(1/π_k)]/(2m)); with R_S for R_m there is a 2 at the root. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From mathcomp.classical Require Import boolp classical_sets.
From mathcomp.analysis Require Import reals sequences exp.
From AdaNet Require Import signs suprema families distributions symmetrisation margin_bound one_class priors entropy.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.

(* a rounding is coded by a number for each layer: 0 for a_k = 0, j+1 for (1+η)^-j *)
Section Roundings.
Variables (R : realType) (l : nat).
Definition rounded (eta : R) (c : nat) : R := if c is j.+1 then ((1 + eta) ^+ j)^-1 else 0.
Definition price (c : nat) : R := if c is j.+1 then (2 * (j.+1 * j.+2))%:R^-1 else 2%:R^-1.
Lemma rounded_ge0 (eta : R) c : 0 < eta -> 0 <= rounded eta c.
Proof. by move=> e0; case: c => //= j; rewrite invr_ge0 exprn_ge0 // addr_ge0 ?ler01 // ltW. Qed.
Lemma price_gt0 c : 0 < price c.
Proof. by case: c => [|j] /=; rewrite invr_gt0 ltr0n // !muln_gt0. Qed.
Lemma prices (r : seq {ffun 'I_l -> nat}) : uniq r -> \sum_(c <- r) \prod_k price (c k) <= 1.
Proof.
move=> ur; pose n := (\sum_(c <- r) \sum_k c k)%N.
pose emb (J : {ffun 'I_l -> 'I_n.+1}) : {ffun 'I_l -> nat} := [ffun k => val (J k)].
have sub : {subset r <= [seq emb J | J <- enum {: {ffun 'I_l -> 'I_n.+1}}]}.
  move=> c cr; have le k : (c k <= n)%N by rewrite /n (big_rem c cr) /= (bigD1 k) //= -!addnA leq_addr.
  have -> : c = emb [ffun k => inord (c k)] by apply/ffunP => k; rewrite !ffunE /= inordK // ltnS.
  by apply: map_f; rewrite mem_enum.
have pos (c : {ffun 'I_l -> nat}) : 0 <= \prod_k price (c k) by apply: prodr_ge0 => k _; exact: ltW (price_gt0 _).
apply: le_trans (sum_subset pos ur sub) _; rewrite big_map big_enum /= (eq_bigr (fun J : {ffun 'I_l -> 'I_n.+1} => \prod_k price (J k))); last first.
  by move=> J _; apply: eq_bigr => k _; rewrite ffunE.
rewrite -(bigA_distr_bigA (fun=> fun c : 'I_n.+1 => price c)); apply: (@le_trans _ _ (\prod_(k < l) 1)); last by rewrite big1_eq.
apply: ler_prod => k _; rewrite sumr_ge0 => [|c _]; last exact: ltW (price_gt0 _).
have := @prior_d_sum R (index_iota 0 n) (iota_uniq _ _); rewrite big_mkord big_ord_recl /= => h.
rewrite (eq_bigr (fun j : 'I_n => 2%:R^-1 * prior_d R j)) => [|j _]; last by rewrite /prior_d natrM invfM.
have i0 : 0 <= 2%:R^-1 :> R by rewrite invr_ge0 ler0n.
rewrite -mulr_sumr; apply: le_trans (ler_add (lexx _) (ler_wpmul2l i0 h)) _.
by rewrite le_eqVlt; apply/orP; left; apply/eqP; field.
Qed.
(* every share has a rounding that is at most 1+η times as large *)
Theorem rounding (eta x : R) : 0 < eta -> 0 <= x <= 1 -> exists c, x <= rounded eta c <= (1 + eta) * x.
Proof.
move=> e0 /andP[]; rewrite le_eqVlt => /predU1P[<- _|x0 x1]; first by exists 0%N; rewrite mulr0 lexx.
have e1 : 0 < 1 + eta by rewrite addr_gt0 ?ltr01.
have [j [high low _]] := on_grid e0 ltr01 (mulr_gt0 e1 x0); have s0 := scale_gt0 j e0.
have lo : x <= 1 / scale eta j.
  rewrite divr1 invfM mulrA divff ?gt_eqF // mul1r in low.
  by rewrite mul1r -[x]invrK ler_pinv ?inE ?unitfE ?gt_eqF ?invr_gt0.
case: j high low s0 lo => n high _ s0 lo; first by exists n.+1; rewrite mul1r in high lo; rewrite /= exprnP -/(scale eta n) lo high.
exists 1%N; rewrite /= expr0 invr1 x1 /=; apply: le_trans high.
by rewrite mul1r /scale NegzE -exprnN invrK exprn_ege1 // ler_addl ltW.
Qed.
End Roundings.

Section Unbounded.
Variables (R : realType) (I : finType) (w : I -> R) (l m : nat) (G : 'I_l -> set (I -> R)) (rho eta delta : R).
Hypotheses (w0 : forall i, 0 <= w i) (w1 : \sum_i w i = 1) (m0 : (0 < m)%N) (rho0 : 0 < rho) (eta0 : 0 < eta) (d01 : 0 < delta < 1).
Hypotheses (G0 : forall k, G k (fun=> 0)) (Gneg : forall k g, G k g -> G k (fun a => - g a)).
Hypothesis Gb : forall k a, exists M, forall g, G k g -> `|g a| <= M.
Implicit Types (S : {ffun 'I_m -> I}) (th : ensemble R I l) (c : {ffun 'I_l -> nat}).

Definition share_of th (k : 'I_l) : R := \sum_(t | layer (e := th) t == k) `|weight t|.
(* Σ|w| = 1, and no layer has more than its rounded share *)
Definition rounds c th := admissible G th /\ forall k, share_of th k <= rounded eta (c k).
Definition log_prices c : R := \sum_k ln (price R (c k))^-1.
Let a c k : R := rounded eta (c k).
Let a0 c k : 0 <= a c k := rounded_ge0 (c k) eta0.
Let F c : set (I -> R) := [set g | exists th, [/\ forall t, G (layer t) (unit_of (e := th) t), forall k, share_of th k <= a c k & forall x, g x = value th x]].
Let F0 c : F c (fun=> 0).
Proof.
exists (@Ensemble R I l 0 (fun=> 0) (fun t => match t with Ordinal _ h => match notF h with end end) (fun _ _ => 0)); split=> [[]//|k|x].
  by rewrite /share_of big_mkcond big_ord0.
by rewrite /value big_ord0.
Qed.
Let Fneg c g : F c g -> F c (fun x => - g x).
Proof.
move=> [th [Gth sh gE]]; exists (@Ensemble R I l (size th) (fun t => weight t) (fun t => layer t) (fun t x => - unit_of (e := th) t x)).
by split=> [t||x]; [exact: Gneg (Gth t) | exact: sh | rewrite gE /value -sumrN; apply: eq_bigr => t _; rewrite mulrN].
Qed.
(* Σ_t |w_t| Z_{k(t)} = Σ_k share_k Z_k *)
Let by_layer th (Z : 'I_l -> R) : \sum_t `|weight t| * Z (layer (e := th) t) = \sum_k share_of th k * Z k.
Proof.
rewrite (partition_big (fun t => layer (e := th) t) xpredT) //=; apply: eq_bigr => k _.
by rewrite /share_of mulr_suml; apply: eq_bigr => t /eqP ->.
Qed.
Let F_le c g (f : (I -> R) -> R) (Z : 'I_l -> R) : (forall k, 0 <= Z k) -> (forall k h, G k h -> `|f h| <= Z k) ->
  (forall th, f (value th) = \sum_t weight t * f (unit_of (e := th) t)) -> (forall h h', h =1 h' -> f h = f h') -> F c g -> `|f g| <= \sum_k a c k * Z k.
Proof.
move=> Z0 fZ lin ext [th [Gth sh gE]]; rewrite (ext _ _ gE) lin; apply: le_trans (ler_norm_sum _ _ _) _.
apply: (@le_trans _ _ (\sum_t `|weight t| * Z (layer (e := th) t))); last by rewrite by_layer; apply: ler_sum => k _; rewrite ler_wpmul2r.
by apply: ler_sum => t _; rewrite normrM ler_wpmul2l // fZ.
Qed.
Let Fb c x : exists M, forall g, F c g -> `|g x| <= M.
Proof.
have /choice[M hM] k := Gb k x; exists (\sum_k a c k * M k) => g Fg.
by apply: (@F_le c g (fun h => h x) M) => // k; exact: le_trans (normr_ge0 _) (hM k _ (G0 k)).
Qed.
Let bG k S : bounded_at (G k) (at_sample (fun i => S i)). Proof. by move=> i; exact: Gb. Qed.
Let RS S k : R := Rad (fun i => S i) (G k).
(* R_S of the class is at most Σ_k a_k R_S(G_k) *)
Lemma Rad_rounded c S : Rad (fun i => S i) (F c) <= \sum_k a c k * RS S k.
Proof.
pose Z s k := Sup (G k) (fun h => dot s (at_sample (fun i => S i) h)).
have im : 0 <= (m%:R^-1 : R) by rewrite invr_ge0 ler0n.
have -> : \sum_k a c k * RS S k = m%:R^-1 * E (fun s : signs m => \sum_k a c k * Z s k).
  by rewrite E_sum mulr_sumr; apply: eq_bigr => k _; rewrite E_scale mulrCA.
rewrite ler_wpmul2l //; apply: E_le => s; apply: Sup_le => [|g Fg]; first by exists (fun=> 0).
have B k := bounded_dot s (bG k S); have dN h : dot s (at_sample (fun i => S i) (fun x => - h x)) = - dot s (at_sample (fun i => S i) h) by exact: dotN.
apply: le_trans (ler_norm _) _; apply: (@F_le c g (fun h => dot s (at_sample (fun i => S i) h)) (Z s)) => // [k|k h Gh|th|h h' hh].
- by apply: le_trans (Sup_ub (B k) (G0 k)); rewrite /dot big1 // => i _; rewrite mulr0.
- by rewrite ler_norml ler_oppl -dN; apply/andP; split; apply: (Sup_ub (B k)) => //; exact: Gneg.
- by rewrite /at_sample /value dot_sum; apply: eq_bigr => t _; rewrite dotZ.
- by apply: eq_dot => i; exact: hh.
Qed.
Lemma log_pricesE c : ln (delta * \prod_k price R (c k))^-1 = ln delta^-1 + log_prices c.
Proof.
have /andP[d0 _] := d01; have p0 k : 0 < (price R (c k))^-1 by rewrite invr_gt0 price_gt0.
by rewrite invfM lnM ?posrE ?invr_gt0 ?prodr_gt0 // => [|k _]; [rewrite -prodfV ln_prod | exact: price_gt0].
Qed.
Let shared c : 0 < delta * \prod_k price R (c k) < 1.
Proof.
have /andP[d0 d1] := d01; have p0 : 0 < \prod_k price R (c k) by apply: prodr_gt0 => k _; exact: price_gt0.
rewrite mulr_gt0 //= (le_lt_trans _ d1) // ler_pimulr ?(ltW d0) //.
by have := @prices R l [:: c] isT; rewrite big_seq1.
Qed.
Let member c th : rounds c th -> F c (value th). Proof. by move=> [[_ Gth] sh]; exists th. Qed.
Let ends (bad : {ffun 'I_l -> nat} -> {ffun 'I_m -> I} -> Prop) : (forall c, Ex w (fun S => `[< bad c S >]%:R) <= delta * \prod_k price R (c k)) ->
  Ex w (fun S => `[< exists c, bad c S >]%:R) <= delta.
Proof. by have /andP[d0 _] := d01; move=> each; apply: (union w0 w1 (ltW d0) (@prices R l)). Qed.

Theorem unbounded_empirical : Ex w (fun S => `[< exists c th, rounds c th /\
  ramp_loss rho S th + 2%:R / rho * (\sum_k rounded eta (c k) * Rad (fun i => S i) (G k))
    + 2%:R * Num.sqrt ((ln delta^-1 + log_prices c) / (2%:R * m%:R)) < risk w th >]%:R) <= delta.
Proof.
apply: ends => c; have Fne : F c !=set0 by exists (fun=> 0).
apply: le_trans (empirical w0 w1 m0 rho0 Fne (Fb c) (shared c)); apply: Ex_le => // S.
case: asboolP => [[th [rd lt]]|_]; last exact: ler0n.
rewrite asboolT ?lexx //; exists (value th); split; first exact: member.
apply: le_lt_trans lt; rewrite log_pricesE ler_add2r ler_add2l ler_wpmul2l ?Rad_rounded //.
by rewrite divr_ge0 ?ler0n // ltW.
Qed.

Theorem margin_bound_unbounded : Ex w (fun S => `[< exists c th, rounds c th /\
  ramp_loss rho S th + 2%:R / rho * (\sum_k rounded eta (c k) * Rm w m G k)
    + Num.sqrt ((ln delta^-1 + log_prices c) / (2%:R * m%:R)) < risk w th >]%:R) <= delta.
Proof.
apply: ends => c; have /choice[M hM] := Fb c; pose B := \sum_x `|M x|.
have FB (k : 'I_1) g x : F c g -> `|g x| <= B.
  move=> Fg; apply: le_trans (hM x g Fg) _; rewrite /B (bigD1 x) //=.
  by apply: le_trans (ler_norm _) _; rewrite ler_addl sumr_ge0.
apply: le_trans (margin_bound w0 w1 m0 (ltn0Sn 0) rho0 (G := fun=> F c) (fun=> F0 c) (fun _ => @Fneg c) FB (shared c)).
apply: Ex_le => // S; case: asboolP => [[th [rd lt]]|_]; last exact: ler0n.
rewrite /failure asboolT ?lexx //; pose one := @Ensemble R I 1 1 (fun=> 1) (fun=> ord0) (fun=> value th).
have vE x : value one x = value th x by rewrite {1}/value big_ord1 mul1r.
exists one; split; first by split=> [|t]; [rewrite big_ord1 normr1 | exact: member].
have -> : risk w one = risk w th by apply: eq_bigr => x _; rewrite vE.
have -> : ramp_loss rho S one = ramp_loss rho S th by congr (_ * _); apply: eq_bigr => i _; rewrite vE.
apply: le_lt_trans lt; rewrite log_pricesE ln1 mulr0 mul0r sqrtr0 mulr0 add0r ler_add2r ler_add2l.
rewrite /penalty big_ord1 normr1 mul1r mulrA ler_wpmul2l ?divr_ge0 ?ler0n ?(ltW rho0) //.
have -> : \sum_k rounded eta (c k) * Rm w m G k = Ex w (fun S => \sum_k a c k * RS S k).
  by rewrite Ex_sum; apply: eq_bigr => k _; rewrite -Ex_scale.
by apply: Ex_le => // T; exact: Rad_rounded.
Qed.
End Unbounded.

(* the margins of H_1, H_2, .. are such families, whatever Λ and the points *)
Theorem margins_of_families (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R) (I : finType) (xs : I -> X) (ys : I -> bool) (k : nat) :
  (forall s, locally_bounded (phi N s)) -> let G := margins xs ys (H Psi k.+1) in
  [/\ G (fun=> 0), forall g, G g -> G (fun a => - g a) & forall a, exists M, forall g, G g -> `|g a| <= M].
Proof.
move=> lb; split=> [|g [h Hh gE]|a].
- by exists (fun=> 0) => [|a]; [exact: H_zero | rewrite mulr0].
- by exists (fun y => - h y) => [|a]; [exact: H_opp | rewrite gE mulrN].
- have [M _ hM] := H_bounded Psi (xs a) lb (ltn0Sn k); exists M => g [h Hh ->].
  by rewrite normrM normrX normrN1 expr1n mul1r; exact: hM.
Qed.
