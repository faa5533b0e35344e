(* The 2^m sign vectors σ, the mean E over them, and μ_m = E|Σ_i σ_i|/m. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* There is no lra here: a linear step names the inequalities it adds, ring does the rest. *)
Lemma le_by (R : realFieldType) (a b c d : R) : a <= b -> d - c = b - a -> c <= d.
Proof. by move=> ab e; rewrite -subr_ge0 e subr_ge0. Qed.
Ltac linear H := apply: (le_by H); ring.

Section Signs.
Variables (R : realFieldType) (m : nat).

Definition signs := {ffun 'I_m -> bool}.
Definition sg (s : signs) (i : 'I_m) : R := (-1) ^+ s i.
Definition E (f : signs -> R) : R := (\sum_s f s) / (2 ^ m)%:R.
Definition mu : R := m%:R^-1 * E (fun s => `|\sum_i sg s i|).

Definition flip (j : 'I_m) (s : signs) : signs := [ffun i => (i == j) (+) s i].
Definition opp (s : signs) : signs := [ffun i => ~~ s i].

Lemma card_signs : #|{: signs}| = (2 ^ m)%N.
Proof. by rewrite card_ffun card_bool card_ord. Qed.
Lemma flipK j : involutive (flip j).
Proof. by move=> s; apply/ffunP=> i; rewrite !ffunE addbA addbb. Qed.
Lemma oppK : involutive opp.
Proof. by move=> s; apply/ffunP=> i; rewrite !ffunE negbK. Qed.
Lemma sg_flip j s i : sg (flip j s) i = (if i == j then -1 else 1) * sg s i.
Proof. by rewrite /sg ffunE signr_addb; case: (i == j); rewrite /= ?expr1 ?expr0. Qed.
Lemma sg_opp s i : sg (opp s) i = - sg s i.
Proof. by rewrite /sg ffunE; case: (s i); rewrite /= ?expr0 ?expr1 ?opprK. Qed.
Lemma norm_sg s i : `|sg s i| = 1.
Proof. by rewrite /sg normrX normrN1 expr1n. Qed.

Let N0 : 0 < ((2 ^ m)%:R : R).
Proof. by rewrite ltr0n expn_gt0. Qed.

Lemma E_le f g : (forall s, f s <= g s) -> E f <= E g.
Proof. by move=> h; rewrite /E ler_pmul2r ?invr_gt0 //; apply: ler_sum. Qed.
Lemma eq_E f g : f =1 g -> E f = E g.
Proof. by move=> h; rewrite /E (eq_bigr g). Qed.
Lemma E_add f g : E (fun s => f s + g s) = E f + E g.
Proof. by rewrite /E big_split mulrDl. Qed.
Lemma E_scale c f : E (fun s => c * f s) = c * E f.
Proof. by rewrite /E -big_distrr mulrA. Qed.
Lemma E_const c : E (fun=> c) = c.
Proof. by rewrite /E big_const iter_addr_0 card_signs -[c *+ _]mulr_natr mulfK ?gt_eqF. Qed.
Lemma E_ge0 f : (forall s, 0 <= f s) -> 0 <= E f.
Proof. by move=> h; rewrite -[X in X <= _](E_const 0); exact: E_le. Qed.
Lemma E_sum (I : Type) (r : seq I) (P : pred I) (f : I -> signs -> R) :
  E (fun s => \sum_(i <- r | P i) f i s) = \sum_(i <- r | P i) E (f i).
Proof. by rewrite /E exchange_big mulr_suml. Qed.
Lemma E_flip j f : E (fun s => f (flip j s)) = E f.
Proof. by rewrite /E [in RHS](reindex_inj (can_inj (flipK j))). Qed.
Lemma E_opp f : E (fun s => f (opp s)) = E f.
Proof. by rewrite /E [in RHS](reindex_inj (can_inj oppK)). Qed.

(* f and g are compared after pairing s with its flip *)
Lemma E_pair_le j f g : (forall s, f s + f (flip j s) <= g s + g (flip j s)) -> E f <= E g.
Proof.
move=> h; have: E f + E f <= E g + E g.
  by rewrite -{2}(E_flip j f) -{2}(E_flip j g) -!E_add; exact: E_le.
by rewrite -!mulr2n ler_pmuln2r.
Qed.

Lemma mu_ge0 : 0 <= mu.
Proof. by rewrite mulr_ge0 ?invr_ge0 ?ler0n //; apply: E_ge0. Qed.
End Signs.

Lemma mu_gt0 (R : realFieldType) m : 0 < mu R m.+1.
Proof.
rewrite mulr_gt0 ?invr_gt0 ?ltr0n // divr_gt0 ?ltr0n ?expn_gt0 //.
rewrite (bigD1 [ffun=> false]) //= ltr_paddr ?sumr_ge0 //.
rewrite (eq_bigr (fun=> 1)); last by move=> i _; rewrite /sg ffunE expr0.
by rewrite sumr_const card_ord normr_gt0 pnatr_eq0.
Qed.

Section Lipschitz.
Variable R : realFieldType.
Definition lipschitz (L : R) (phi : R -> R) := forall x y, `|phi x - phi y| <= L * `|x - y|.
Definition odd_fun (phi : R -> R) := forall x, phi (- x) = - phi x.
(* bounded on bounded sets: the least that keeps every supremum over a family finite *)
Definition locally_bounded (phi : R -> R) := forall M : R, exists K : R, forall x, `|x| <= M -> `|phi x| <= K.

Lemma lip_ge0 (L : R) phi : lipschitz L phi -> 0 <= L.
Proof. by move=> lip; have := lip 1 0; rewrite subr0 normr1 mulr1; exact: le_trans. Qed.
Lemma lip_scale (c : R) : lipschitz `|c| (fun x => c * x).
Proof. by move=> x y; rewrite -mulrBr normrM. Qed.
Lemma lip_le (L L' : R) phi : L <= L' -> lipschitz L phi -> lipschitz L' phi.
Proof. by move=> LL lip x y; rewrite (le_trans (lip x y)) // ler_wpmul2r. Qed.
Lemma lip_abs_le (L : R) phi x : lipschitz L phi -> `|phi x| <= L * `|x| + `|phi 0|.
Proof.
move=> lip; rewrite -{1}[phi x](subrK (phi 0)) (le_trans (ler_norm_add _ _)) // ler_add2r.
by have := lip x 0; rewrite subr0.
Qed.
Lemma lip_bounded (L : R) phi : lipschitz L phi -> locally_bounded phi.
Proof.
move=> lip M; exists (L * M + `|phi 0|) => x xM; rewrite (le_trans (lip_abs_le _ lip)) // ler_add2r.
by rewrite ler_wpmul2l ?(lip_ge0 lip).
Qed.
(* enough to look at x <= y *)
Lemma lip_ordered (L : R) phi : (forall x y, x <= y -> `|phi y - phi x| <= L * (y - x)) -> lipschitz L phi.
Proof.
move=> h x y; wlog xy : x y / x <= y.
  by move=> W; case: (leP x y) => [/W//|/ltW/W]; rewrite distrC [`|y - x|]distrC.
by rewrite distrC [`|x - y|]distrC [`|y - x|]ger0_norm ?subr_ge0 // h.
Qed.
Lemma odd0 phi : odd_fun phi -> phi 0 = 0.
Proof. by move/(_ 0)/eqP; rewrite oppr0 -subr_eq0 opprK -mulr2n mulrn_eq0 /=; exact: eqP. Qed.
End Lipschitz.
