(* contraction: for φ 1-Lipschitz, A any set of vectors, g any function bounded above on A,
     E sup_A [g + Σ_i σ_i φ(a_i)] <= E sup_A [g + Σ_i σ_i a_i],
   and under a convex non-decreasing F the same if φ(0) = 0. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From mathcomp.classical Require Import boolp classical_sets.
From mathcomp.analysis Require Import reals.
From AdaNet Require Import signs suprema.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.

Definition convex (R : realType) (F : R -> R) :=
  forall t x y : R, 0 <= t <= 1 -> F (t * x + (1 - t) * y) <= t * F x + (1 - t) * F y.
Definition nondecreasing (R : realType) (F : R -> R) := forall x y : R, x <= y -> F x <= F y.

(* What is used of F: the four-point inequality, and continuity from the right. *)
Section Convex.
Variables (R : realType) (F : R -> R).
Hypotheses (Fc : convex F) (Fm : nondecreasing F).

Lemma four_points (P Q x y : R) : 0 <= y -> y <= x -> Q - y <= P -> F P + F Q <= F (P + x) + F (Q - y).
Proof.
move=> y0 yx QP; apply: (@le_trans _ _ (F (P + y) + F (Q - y))); last first.
  by rewrite ler_add2r Fm // ler_add2l.
set A := Q - y in QP *; have -> : Q = A + y by rewrite subrK.
have d0 : 0 <= P + y - A by rewrite addrAC addr_ge0 // subr_ge0.
have [d1|d1] := eqVneq (P + y - A) 0.
  have y1 : y = 0 by apply/eqP; rewrite eq_le y0 andbT -d1 addrAC ler_addr subr_ge0.
  by rewrite y1 !addr0.
pose t := y / (P + y - A).
have t01 : 0 <= t <= 1.
  by rewrite divr_ge0 //= ler_pdivr_mulr ?lt_def ?d1 // mul1r addrAC ler_addr subr_ge0.
have t01' : 0 <= 1 - t <= 1 by case/andP: t01 => a b; rewrite subr_ge0 b ler_subl_addr ler_addl.
have h1 := Fc (P + y) A t01; have h2 := Fc (P + y) A t01'.
have e1 : t * (P + y) + (1 - t) * A = A + y by rewrite /t; field.
have e2 : (1 - t) * (P + y) + (1 - (1 - t)) * A = P by rewrite /t; field.
by rewrite e1 in h1; rewrite e2 in h2; linear (ler_add h1 h2).
Qed.

Lemma right_continuous (c U V : R) : (forall e : R, 0 < e -> c <= F (U + e) + F (V + e)) -> c <= F U + F V.
Proof.
move=> h; pose K := F (U + 1) - F U + (F (V + 1) - F V).
have K0 : 0 <= K by rewrite addr_ge0 // subr_ge0 Fm // ler_addl ler01.
apply/ler_addgt0Pr => d d0; have K1 : 0 < K + 1 by rewrite ltr_paddl ?ltr01.
pose e := Num.min 1 (d / (K + 1)).
have e0 : 0 < e by rewrite lt_minr ltr01 divr_gt0.
have e1 : 0 <= e <= 1 by rewrite (ltW e0) le_minl lexx.
have b (W : R) : F (W + e) <= F W + e * (F (W + 1) - F W).
  have := Fc (W + 1) W e1; rewrite (_ : e * (W + 1) + (1 - e) * W = W + e); last by ring.
  by move/le_by; apply; ring.
have eK : e * K <= d.
  apply: (@le_trans _ _ (d / (K + 1) * K)); first by rewrite ler_wpmul2r // le_minl lexx orbT.
  by rewrite mulrAC ler_pdivr_mulr // ler_wpmul2l ?(ltW d0) // ler_addl ler01.
by rewrite /K in eK; linear (ler_add (ler_add (h e e0) (ler_add (b U) (b V))) eK).
Qed.
End Convex.

(* g + Σ_i σ_i v_i, and what a turned sign does to it *)
Section Coordinates.
Variables (R : realType) (m : nat) (T : Type).
Definition lin (g : T -> R) (v : T -> 'I_m -> R) (s : signs m) : T -> R := fun t => g t + dot s (v t).
Definition rest (g : T -> R) (v : T -> 'I_m -> R) (s : signs m) (j : 'I_m) : T -> R :=
  fun t => g t + \sum_(i < m | i != j) sg R s i * v t i.

Lemma lin_rest g v s j t : lin g v s t = rest g v s j t + sg R s j * v t j.
Proof. by rewrite /lin /dot (bigD1 j) //= /rest addrCA addrC. Qed.
Lemma lin_flip g v s j t : lin g v (flip j s) t = rest g v s j t - sg R s j * v t j.
Proof.
rewrite (lin_rest _ _ _ j) sg_flip eqxx mulN1r mulNr; congr (g t + _ - _).
by apply: eq_bigr => i /negbTE ij; rewrite sg_flip ij mul1r.
Qed.
Lemma eq_rest g u v s j : (forall t i, i != j -> u t i = v t i) -> rest g u s j =1 rest g v s j.
Proof. by move=> uv t; congr (_ + _); apply: eq_bigr => i /uv->. Qed.

(* u on the first k coordinates, v on the others *)
Definition mix (u v : T -> 'I_m -> R) (k : nat) : T -> 'I_m -> R := fun t i => if (i < k)%N then u t i else v t i.
Lemma mix_off u v (j : 'I_m) t i : i != j -> mix u v j.+1 t i = mix u v j t i.
Proof. by rewrite -val_eqE /= /mix ltnS leq_eqVlt => /negbTE->. Qed.
Lemma mix_bounded (A : set T) u v k : bounded_at A u -> bounded_at A v -> bounded_at A (mix u v k).
Proof. by move=> bu bv i; rewrite /mix; case: (i < k)%N. Qed.
End Coordinates.

Section Contraction.
Variables (R : realType) (m : nat) (T : Type) (A : set T).
Hypothesis A0 : A !=set0.
Variables (g : T -> R) (u v : T -> 'I_m -> R).
Hypotheses (bg : bounded_on A g) (bu : bounded_at A u) (bv : bounded_at A v).
Let closer (u v : T -> 'I_m -> R) j := forall t t', A t -> A t' -> `|u t j - u t' j| <= `|v t j - v t' j|.
Let smaller (u v : T -> 'I_m -> R) j := forall t, A t -> `|u t j| <= `|v t j|.
Hypothesis lip : forall j, closer u v j.

(* one coordinate, F the identity *)
Lemma step_id u' v' j : bounded_at A v' -> (forall t i, i != j -> u' t i = v' t i) -> closer u' v' j ->
  E (fun s : signs m => Sup A (lin g u' s)) <= E (fun s => Sup A (lin g v' s)).
Proof.
move=> bv' off l; apply: (@E_pair_le _ _ j) => s; apply: Sup_add_le => // t t' At At'.
rewrite lin_flip (lin_rest g u' s j) !(eq_rest _ _ off).
have B s1 := bounded_lin s1 bg bv'.
move: (Sup_ub (B s) At) (Sup_ub (B s) At') (Sup_ub (B (flip j s)) At) (Sup_ub (B (flip j s)) At').
rewrite -!/(lin g v' _ _) !lin_flip !(lin_rest g v' s j).
have key : sg R s j * (u' t j - u' t' j) <= `|sg R s j * (v' t j - v' t' j)|.
  by rewrite (le_trans (ler_norm _)) // !normrM norm_sg !mul1r l.
move: (rest g v' s j t) (rest g v' s j t') (Sup A _) (Sup A _) key => x y X Y key a1 a2 b1 b2.
case: (lerP 0 (sg R s j * (v' t j - v' t' j))) key => [v0|v0] key.
- by rewrite (ger0_norm v0) in key; linear (ler_add key (ler_add a1 b2)).
- by rewrite (ltr0_norm v0) in key; linear (ler_add key (ler_add b1 a2)).
Qed.

Lemma contraction_coordinates : E (fun s : signs m => Sup A (lin g u s)) <= E (fun s => Sup A (lin g v s)).
Proof.
have st k : (k <= m)%N -> E (fun s : signs m => Sup A (lin g (mix u v k) s)) <= E (fun s => Sup A (lin g v s)).
  elim: k => [_|k IH km]; first by [].
  apply: le_trans (IH (ltnW km)); apply: (step_id (j := Ordinal km)).
  - exact: mix_bounded.
  - by move=> t i; exact: mix_off.
  - by move=> t t'; rewrite /mix /= ltnSn ltnn; exact: lip.
apply: le_trans (st m (leqnn m)); rewrite le_eqVlt; apply/orP; left; apply/eqP/eq_E => s.
by apply: eq_Sup => t _; congr (_ + _); apply: eq_dot => i; rewrite /mix ltn_ord.
Qed.

(* under F: four cases by the signs of two near-maximisers *)
Variable F : R -> R.
Hypotheses (Fc : convex F) (Fm : nondecreasing F) (con : forall j, smaller u v j).

Lemma two_points_aux (w a b : T -> R) (P Q U V e : R) t t' : A t -> A t' ->
  `|b t - b t'| <= `|a t - a t'| -> (forall t, A t -> `|b t| <= `|a t|) -> 0 < e ->
  (forall t, A t -> w t + b t <= P) -> (forall t, A t -> w t - b t <= Q) ->
  (forall t, A t -> w t + a t <= U) -> (forall t, A t -> w t - a t <= V) ->
  P - e <= w t + b t -> Q - e <= w t' - b t' -> 0 <= a t ->
  F P + F Q <= F (U + (e + e)) + F (V + (e + e)).
Proof.
move=> At At' l ba e0 hP hQ hU hV nP nQ at0.
have ee0 : 0 <= e + e by rewrite addr_ge0 // ltW.
have /andP[bt1 bt2] : - a t <= b t <= a t by rewrite -ler_norml -(ger0_norm at0) ba.
have [at'0|/ltW at'0] := leP 0 (a t'); last first.
  have /andP[bt1' bt2'] : a t' <= b t' <= - a t'.
    by rewrite -{1}[a t']opprK -ler_norml -(ler0_norm at'0) ba.
  apply: ler_add; apply: Fm.
  - by linear (ler_add (ler_add nP bt2) (ler_add (hU t At) (ltW e0))).
  - by linear (ler_add (ler_add nQ bt1') (ler_add (hV t' At') (ltW e0))).
have /andP[bt1' bt2'] : - a t' <= b t' <= a t' by rewrite -ler_norml -(ger0_norm at'0) ba.
have [aa|/ltW aa] := leP (a t') (a t).
- rewrite [X in _ <= X]ger0_norm ?subr_ge0 // in l; have {}l := le_trans (ler_norm _) l.
  apply: le_trans (four_points Fc Fm (x := a t - b t + e) (y := a t' - b t' + e) _ _ _) _.
  + by rewrite addr_ge0 ?subr_ge0 // ltW.
  + by linear l.
  + by linear (ler_add nQ (ler_add (hP t' At') bt1')).
  + apply: ler_add; apply: Fm; first by linear (ler_add nP (hU t At)).
    by linear (ler_add (ler_add nQ (hV t' At')) ee0).
- rewrite distrC [X in _ <= X]distrC [X in _ <= X]ger0_norm ?subr_ge0 // in l.
  have {}l : - (b t' - b t) <= a t' - a t by rewrite (le_trans _ l) // -normrN ler_norm.
  rewrite addrC; apply: le_trans (four_points Fc Fm (x := a t' + b t' + e) (y := a t + b t + e) _ _ _) _.
  + by rewrite addr_ge0 ?(ltW e0) // -ler_subl_addl sub0r.
  + by linear l.
  + by linear (ler_add nP (ler_add (hQ t At) bt2)).
  + apply: ler_add; apply: Fm; first by linear (ler_add nQ (hU t' At')).
    by linear (ler_add (ler_add nP (hV t At)) ee0).
Qed.

Lemma two_points (w a b : T -> R) :
  (forall t t', A t -> A t' -> `|b t - b t'| <= `|a t - a t'|) -> (forall t, A t -> `|b t| <= `|a t|) ->
  bounded_on A (fun t => w t + b t) -> bounded_on A (fun t => w t - b t) ->
  bounded_on A (fun t => w t + a t) -> bounded_on A (fun t => w t - a t) ->
  F (Sup A (fun t => w t + b t)) + F (Sup A (fun t => w t - b t)) <=
  F (Sup A (fun t => w t + a t)) + F (Sup A (fun t => w t - a t)).
Proof.
move=> l ba B1 B2 B3 B4; apply: (right_continuous Fc Fm) => e e0.
have h0 : 0 < e / 2%:R by rewrite divr_gt0 // ltr0n.
have -> : e = e / 2%:R + e / 2%:R by rewrite -mulrDl -mulr2n -mulr_natr mulfK // pnatr_eq0.
have [t At ht] := Sup_near A0 B1 h0; have [t' At' ht'] := Sup_near A0 B2 h0.
have [at0|at0] := leP 0 (a t).
  by apply: (two_points_aux (w := w) (a := a) (b := b) At At') => //; [exact: l|..] => t1 At1;
    [exact: (Sup_ub B1)|exact: (Sup_ub B2)|exact: (Sup_ub B3)|exact: (Sup_ub B4)].
rewrite [X in _ <= X]addrC.
apply: (two_points_aux (w := w) (a := fun t => - a t) (b := b) At At') => //.
- by rewrite -opprD normrN; exact: l.
- by move=> t1 At1; rewrite normrN ba.
- by move=> t1 At1; exact: (Sup_ub B1).
- by move=> t1 At1; exact: (Sup_ub B2).
- by move=> t1 At1; exact: (Sup_ub B4).
- by move=> t1 At1; rewrite opprK; exact: (Sup_ub B3).
- by rewrite oppr_ge0 ltW.
Qed.

Lemma step_convex u' v' j : bounded_at A u' -> bounded_at A v' -> (forall t i, i != j -> u' t i = v' t i) ->
  closer u' v' j -> smaller u' v' j ->
  E (fun s : signs m => F (Sup A (lin g u' s))) <= E (fun s => F (Sup A (lin g v' s))).
Proof.
move=> bu' bv' off l c; apply: (@E_pair_le _ _ j) => s.
have rw (w : T -> 'I_m -> R) s1 f : lin g w s1 =1 f -> bounded_at A w -> Sup A (lin g w s1) = Sup A f /\ bounded_on A f.
  move=> wf bw; split; first by apply: eq_Sup => t _.
  by have [M hM] := bounded_lin s1 bg bw; exists M => t At; rewrite -wf hM.
have [|-> B1] := rw u' s (fun t => rest g v' s j t + sg R s j * u' t j) _ bu'.
  by move=> t; rewrite (lin_rest g u' s j) (eq_rest _ _ off).
have [|-> B2] := rw u' (flip j s) (fun t => rest g v' s j t - sg R s j * u' t j) _ bu'.
  by move=> t; rewrite lin_flip (eq_rest _ _ off).
have [|-> B3] := rw v' s (fun t => rest g v' s j t + sg R s j * v' t j) _ bv'.
  by move=> t; rewrite (lin_rest g v' s j).
have [|-> B4] := rw v' (flip j s) (fun t => rest g v' s j t - sg R s j * v' t j) _ bv'.
  by move=> t; rewrite lin_flip.
apply: (two_points (w := rest g v' s j) (a := fun t => sg R s j * v' t j) (b := fun t => sg R s j * u' t j)) => //.
- by move=> t t' At At'; rewrite -!mulrBr !normrM norm_sg !mul1r l.
- by move=> t At; rewrite !normrM norm_sg !mul1r c.
Qed.

Lemma contraction_convex_coordinates :
  E (fun s : signs m => F (Sup A (lin g u s))) <= E (fun s => F (Sup A (lin g v s))).
Proof.
have st k : (k <= m)%N -> E (fun s : signs m => F (Sup A (lin g (mix u v k) s))) <= E (fun s => F (Sup A (lin g v s))).
  elim: k => [_|k IH km]; first by [].
  apply: le_trans (IH (ltnW km)); apply: (step_convex (j := Ordinal km)); try exact: mix_bounded.
  - by move=> t i; exact: mix_off.
  - by move=> t t'; rewrite /mix /= ltnSn ltnn; exact: lip.
  - by move=> t; rewrite /mix /= ltnSn ltnn; exact: con.
apply: le_trans (st m (leqnn m)); rewrite le_eqVlt; apply/orP; left; apply/eqP/eq_E => s.
by congr F; apply: eq_Sup => t _; congr (_ + _); apply: eq_dot => i; rewrite /mix ltn_ord.
Qed.
End Contraction.

Theorem contraction (R : realType) (m : nat) (A : set ('I_m -> R)) (g : ('I_m -> R) -> R) (phi : R -> R) :
  A !=set0 -> bounded_on A g -> bounded_at A id -> lipschitz 1 phi ->
  E (fun s => Sup A (fun a => g a + dot s (fun i => phi (a i)))) <= E (fun s => Sup A (fun a => g a + dot s a)).
Proof.
move=> A0 bg bA lip; apply: (contraction_coordinates A0 bg _ (v := id)) => //.
- exact: bounded_comp (lip_bounded lip) bA.
- by move=> j a b _ _; have := lip (a j) (b j); rewrite mul1r.
Qed.

Theorem contraction_convex (R : realType) (m : nat) (A : set ('I_m -> R)) (g : ('I_m -> R) -> R) (phi F : R -> R) :
  A !=set0 -> bounded_on A g -> bounded_at A id -> lipschitz 1 phi -> phi 0 = 0 -> convex F -> nondecreasing F ->
  E (fun s => F (Sup A (fun a => g a + dot s (fun i => phi (a i))))) <= E (fun s => F (Sup A (fun a => g a + dot s a))).
Proof.
move=> A0 bg bA lip p0 Fc Fm; apply: (contraction_convex_coordinates A0 bg _ (v := id)) => //.
- exact: bounded_comp (lip_bounded lip) bA.
- by move=> j a b _ _; have := lip (a j) (b j); rewrite mul1r.
- by move=> j a _; have := lip (a j) 0; rewrite p0 !subr0 mul1r.
Qed.
