(* What is proved, word for word: a Check fails to build if its theorem says anything weaker. Those that are indented say what a definition is. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.classical Require Import boolp classical_sets.
From mathcomp.analysis Require Import reals sequences exp trigo.
From AdaNet Require Import signs suprema norms families activations.
From AdaNet Require Import contraction lemma_1 lemma_1_exact lemma_1_corrected lemma_2_peeled lemma_2_peeled_data lemma_2_peeled_offset depth_lower range.
From AdaNet Require Import surrogates cvx_closed_form cvx_stop cvx_decrease distributions margin_bound.
From AdaNet Require Import margin_bound_uniform margin_bound_empirical margin_bound_unbounded objective_bound priors path_classes a_posteriori h1 slopes adanet_comparison.
From AdaNet Require Import deepboost_restated held_out entropy pac_bayes_kl vote_certificate smooth.
From AdaNet Require Import occam_certificate disagreement_certificate pick_bound preferent pick_certificate.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.

(* What the words mean. Signs σ and the mean over them; suprema; norms *)
  Check (fun m : nat => erefl : signs m = {ffun 'I_m -> bool}).
  Check (fun (R : realType) (m : nat) (s : signs m) (a : 'I_m -> R) (f : signs m -> R) => And3 erefl erefl erefl :
    [/\ dot s a = \sum_i (-1) ^+ s i * a i, E f = (\sum_s f s) / (2 ^ m)%:R & mu R m = m%:R^-1 * E (fun s : signs m => `|\sum_i (-1) ^+ s i|)]).
  Check (fun (R : realType) (phi : R -> R) (L : R) => And3 erefl erefl erefl :
    [/\ lipschitz L phi = (forall x y, `|phi x - phi y| <= L * `|x - y|), odd_fun phi = (forall x, phi (- x) = - phi x) &
        locally_bounded phi = (forall M : R, exists K : R, forall x, `|x| <= M -> `|phi x| <= K)]).
  Check (fun (R : realType) (T : Type) (A : set T) (f : T -> R) (m : nat) (v : T -> 'I_m -> R) => And3 erefl erefl erefl :
    [/\ Sup A f = sup [set f t | t in A], bounded_on A f = (exists M, forall t, A t -> f t <= M) &
        bounded_at A v = (forall i, exists M, forall t, A t -> `|v t i| <= M)]).
  Check (fun (R : realType) (F : R -> R) => conj erefl erefl :
    convex F = (forall t x y, 0 <= t <= 1 -> F (t * x + (1 - t) * y) <= t * F x + (1 - t) * F y) /\ nondecreasing F = (forall x y, x <= y -> F x <= F y)).
  Check (fun (R : realType) (x a : R) => erefl : powp x a = if x == 0 then 0 else expR (a * ln x)).
  Check (@Finite : forall (R : realType) (p : R), 1 <= p -> exponent R).
  Check (fun (R : realType) (p : R) (p1 : 1 <= p) (n : nat) (u : 'I_n -> R) => And4 erefl erefl erefl erefl :
    [/\ norm (Finite p1) u = powp (\sum_t powp `|u t| p) p^-1, norm Infinite u = \big[Num.max/0]_t `|u t|,
        root_q (Finite p1) n = powp n%:R (1 - p^-1) & root_q (Infinite : exponent R) n = n%:R]).
  Check (fun (R : realType) (a b : R) (a1 : 1 <= a) (b1 : 1 <= b) => And4 erefl erefl erefl erefl :
    [/\ conjugate (Finite a1) (Finite b1) = (a^-1 + b^-1 = 1), conjugate (Finite a1) Infinite = (a = 1),
        conjugate Infinite (Finite b1) = (b = 1) & conjugate (Infinite : exponent R) Infinite = False]).

(* H_k, both ways, and R_S *)
  Check (@Net : forall (R : realType) (n : nat -> nat) (Lam : nat -> nat -> R), (forall k s, 0 <= Lam k s) -> exponent R -> (nat -> R -> R) -> net R).
  Check (fun (R : realType) (n : nat -> nat) (Lam : nat -> nat -> R) (Lam0 : forall k s, 0 <= Lam k s) (q : exponent R) (act : nat -> R -> R) =>
    let N := Net n Lam0 q act in And4 erefl erefl erefl erefl : [/\ families.n N = n, families.Lam N = Lam, p N = q & phi N = act]).
  Check (@H_1 : forall (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R) (u : 'I_(n N 0) -> R) (h : X -> R),
    norm (p N) u <= Lam N 1 0 -> (forall x, h x = \sum_j u j * Psi x j) -> H Psi 1 h).
  Check (@H_inv1 : forall (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R) (h : X -> R),
    H Psi 1 h -> exists2 u, norm (p N) u <= Lam N 1 0 & forall x, h x = \sum_j u j * Psi x j).
  Check (@H_k : forall (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R) (k : nat) (u : forall s, 'I_(n N s) -> R)
      (g : forall s, 'I_(n N s) -> X -> R) (h : X -> R), (1 < k)%N ->
    (forall s, (0 < s < k)%N -> norm (p N) (u s) <= Lam N k s) -> (forall s t, (0 < s < k)%N -> H Psi s (g s t)) ->
    (forall x, h x = \sum_(1 <= s < k) \sum_(t < n N s) u s t * phi N s (g s t x)) -> H Psi k h).
  Check (@H_inv : forall (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R) (k : nat) (h : X -> R), (1 < k)%N -> H Psi k h ->
    exists (u : forall s, 'I_(n N s) -> R) (g : forall s, 'I_(n N s) -> X -> R),
    [/\ forall s, (0 < s < k)%N -> norm (p N) (u s) <= Lam N k s, forall s t, (0 < s < k)%N -> H Psi s (g s t) &
        forall x, h x = \sum_(1 <= s < k) \sum_(t < n N s) u s t * phi N s (g s t x)]).
  Check (fun (R : realType) (X : Type) (m : nat) (x : 'I_m -> X) (F : set (X -> R)) (phi : R -> R) => conj erefl erefl :
    Rad x F = m%:R^-1 * E (fun s => Sup F (fun h => dot s (fun i => h (x i)))) /\
    Rad_abs x phi F = m%:R^-1 * E (fun s => Sup F (fun h => `|dot s (fun i => phi (h (x i)))|))).
  Check (fun (R : realType) (X : Type) (n0 : nat) (Psi : X -> 'I_n0 -> R) (m : nat) (x : 'I_m -> X) => erefl :
    r_rms Psi x = \big[Num.max/0]_j Num.sqrt ((\sum_i Psi (x i) j ^+ 2) / m%:R)).
  Check (fun (R : realType) (N : net R) => erefl : layered N = (forall k s, (s.+1 < k)%N -> Lam N k s = 0)).

(* activations and what they cost: c_φ (splits) and e_φ (peels) *)
  Check (fun (R : realType) (a y : R) => And3 erefl erefl erefl :
    [/\ relu y = Num.max y 0, leaky a y = (if 0 <= y then y else a * y) & sigmoid y = (1 + expR (- y))^-1]).
  Check (fun (R : realType) (phi : R -> R) (a b : R) => conj erefl erefl :
    slopes a b phi = (forall x y, x <= y -> a * (y - x) <= phi y - phi x <= b * (y - x)) /\
    homogeneous phi = (forall a y, 0 <= a -> phi (a * y) = a * phi y)).
  Check (fun (R : realType) (phi : R -> R) (c : R) => erefl : splits phi c = exists o g (L1 L2 : R),
    [/\ forall x, phi x = phi 0 + o x + g x, odd_fun o, g 0 = 0, lipschitz L1 o & lipschitz L2 g] /\ L1 + 2%:R * L2 = c).
  Check (fun (R : realType) (phi : R -> R) (L e : R) => erefl : peels phi L e = (0 < L /\ exists o g (alpha : R),
    [/\ forall x, phi x = L * (alpha * o x + (1 - alpha) * g x), odd_fun o, g 0 = 0, lipschitz 1 o & lipschitz 1 g] /\ 0 <= alpha <= 1 /\ 2%:R - alpha = e)).

(* atoms I with probabilities w: Ex is the mean over m independent draws, `[< .. >] turns a proposition into 0 or 1 *)
  Check (fun (R : realType) (I : finType) (w : I -> R) (m : nat) (f : {ffun 'I_m -> I} -> R) => erefl :
    Ex w f = \sum_(S : {ffun 'I_m -> I}) (\prod_i w (S i)) * f S).
  Check (fun (R : realType) (rho u : R) => erefl : ramp rho u = Num.max 0 (Num.min 1 (1 - u / rho))).

(* contraction *)
Check (@contraction : forall (R : realType) (m : nat) (A : set ('I_m -> R)) (g : ('I_m -> R) -> R) (phi : R -> R),
  A !=set0 -> bounded_on A g -> bounded_at A id -> lipschitz 1 phi ->
  E (fun s => Sup A (fun a => g a + dot s (fun i => phi (a i)))) <= E (fun s => Sup A (fun a => g a + dot s a))).
Check (@contraction_convex : forall (R : realType) (m : nat) (A : set ('I_m -> R)) (g : ('I_m -> R) -> R) (phi F : R -> R),
  A !=set0 -> bounded_on A g -> bounded_at A id -> lipschitz 1 phi -> phi 0 = 0 -> convex F -> nondecreasing F ->
  E (fun s => F (Sup A (fun a => g a + dot s (fun i => phi (a i))))) <= E (fun s => F (Sup A (fun a => g a + dot s a)))).

(* lemma-1-exact *)
Check (@lemma_1_exact : forall (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R) (m : nat) (x : 'I_m -> X) (k : nat),
  (forall s, locally_bounded (phi N s)) -> (1 < k)%N ->
  Rad x (H Psi k) = \sum_(1 <= s < k) Lam N k s * root_q (p N) (n N s) * Rad_abs x (phi N s) (H Psi s)).

(* lemma-1-corrected *)
Check (@lemma_1_corrected : forall (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R) (m : nat) (x : 'I_m -> X)
    (k : nat) (c : nat -> R), (1 < k)%N -> (forall s, splits (phi N s) (c s)) ->
  Rad x (H Psi k) <=
  \sum_(1 <= s < k) Lam N k s * root_q (p N) (n N s) * (c s * Rad x (H Psi s) + `|phi N s 0| * mu R m)).
Check (@lemma_1_relu : forall (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R) (m : nat) (x : 'I_m -> X) (k : nat),
  (1 < k)%N -> (forall s, phi N s = @relu R) ->
  Rad x (H Psi k) <= 3%:R / 2%:R * \sum_(1 <= s < k) Lam N k s * root_q (p N) (n N s) * Rad x (H Psi s)).
Check (@lemma_1_leaky : forall (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R) (m : nat) (x : 'I_m -> X) (k : nat),
  (1 < k)%N -> forall a : R, `|a| <= 1 -> (forall s, phi N s = leaky a) ->
  Rad x (H Psi k) <= (3%:R - a) / 2%:R * \sum_(1 <= s < k) Lam N k s * root_q (p N) (n N s) * Rad x (H Psi s)).
Check (@lemma_1_odd : forall (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R) (m : nat) (x : 'I_m -> X) (k : nat),
  (1 < k)%N -> forall L : R, (forall s, lipschitz L (phi N s)) -> (forall s, odd_fun (phi N s)) ->
  Rad x (H Psi k) <= L * \sum_(1 <= s < k) Lam N k s * root_q (p N) (n N s) * Rad x (H Psi s)).
Check (@lemma_1_slopes : forall (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R) (m : nat) (x : 'I_m -> X) (k : nat),
  (1 < k)%N -> forall a b : R, (forall s, slopes a b (phi N s)) ->
  Rad x (H Psi k) <= \sum_(1 <= s < k) Lam N k s * root_q (p N) (n N s) *
    ((`|a + b| / 2%:R + (b - a)) * Rad x (H Psi s) + `|phi N s 0| * mu R m)).
Check (@lemma_1_lipschitz : forall (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R) (m : nat) (x : 'I_m -> X) (k : nat),
  (1 < k)%N -> forall L : R, (forall s, lipschitz L (phi N s)) ->
  Rad x (H Psi k) <= \sum_(1 <= s < k) Lam N k s * root_q (p N) (n N s) * (2%:R * L * Rad x (H Psi s) + `|phi N s 0| * mu R m)).
Check (@lemma_1_printed : forall (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R) (m : nat) (x : 'I_m -> X) (k : nat),
  (1 < k)%N -> (forall s, lipschitz 1 (phi N s)) -> (forall s, phi N s 0 = 0) ->
  Rad x (H Psi k) <= 2%:R * \sum_(1 <= s < k) Lam N k s * root_q (p N) (n N s) * Rad x (H Psi s)).

(* lemma-1, as printed, is false *)
Check (@lemma_1_false : forall (R : realType) (p : exponent R) (m : nat) (X : Type) (Psi : X -> 'I_1 -> R) (x : 'I_m.+1 -> X),
  (forall s, lipschitz 1 (phi (bad_net p) s)) /\
  ~ (Rad x (H (N := bad_net p) Psi 2) <=
     2%:R * \sum_(1 <= s < 2) Lam (bad_net p) 2 s * root_q p (n (bad_net p) s) * Rad x (H (N := bad_net p) Psi s))).
  Check (fun (R : realType) (q : exponent R) => And4 erefl erefl erefl erefl :
    [/\ n (bad_net q) = fun=> 1%N, Lam (bad_net q) = fun k _ => if k == 1%N then 0 else 1, p (bad_net q) = q & phi (bad_net q) = fun=> @sigmoid R]).
Check (@sigmoid_lipschitz : forall R : realType, lipschitz 1 (@sigmoid R)).

(* lemma-2-peeled *)
Check (@lemma_2_peeled : forall (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R) (m : nat) (x : 'I_m -> X) (L e : nat -> R) (k : nat),
  (forall s, peels (phi N s) (L s) (e s)) -> (0 < m)%N -> (0 < n N 0)%N -> (0 < k)%N ->
  Rad x (H Psi k) <= r_rms Psi x * P N L k * Num.sqrt (2%:R * (ln (2%:R * (n N 0)%:R) + ln (D N L e k)) / m%:R)).
Check (@lemma_2_relu : forall (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R) (m : nat) (x : 'I_m -> X) (k : nat), (0 < m)%N -> (0 < n N 0)%N -> (0 < k)%N -> (forall s, phi N s = @relu R) ->
  Rad x (H Psi k) <= r_rms Psi x * P N (fun=> 1) k * Num.sqrt (2%:R * (ln (2%:R * (n N 0)%:R) + ln (D N (fun=> 1) (fun=> 3%:R / 2%:R) k)) / m%:R)).
Check (@lemma_2_leaky : forall (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R) (m : nat) (x : 'I_m -> X) (k : nat), (0 < m)%N -> (0 < n N 0)%N -> (0 < k)%N ->
  forall a : R, `|a| <= 1 -> (forall s, phi N s = leaky a) ->
  Rad x (H Psi k) <= r_rms Psi x * P N (fun=> 1) k * Num.sqrt (2%:R * (ln (2%:R * (n N 0)%:R) + ln (D N (fun=> 1) (fun=> (3%:R - a) / 2%:R) k)) / m%:R)).
Check (@lemma_2_odd : forall (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R) (m : nat) (x : 'I_m -> X) (k : nat), (0 < m)%N -> (0 < n N 0)%N -> (0 < k)%N ->
  forall L : R, 0 < L -> (forall s, lipschitz L (phi N s)) -> (forall s, odd_fun (phi N s)) ->
  Rad x (H Psi k) <= r_rms Psi x * P N (fun=> L) k * Num.sqrt (2%:R * (ln (2%:R * (n N 0)%:R) + ln (D N (fun=> L) (fun=> 1) k)) / m%:R)).
Check (@lemma_2_any : forall (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R) (m : nat) (x : 'I_m -> X) (k : nat), (0 < m)%N -> (0 < n N 0)%N -> (0 < k)%N ->
  forall L : R, 0 < L -> (forall s, lipschitz L (phi N s)) -> (forall s, phi N s 0 = 0) ->
  Rad x (H Psi k) <= r_rms Psi x * P N (fun=> L) k * Num.sqrt (2%:R * (ln (2%:R * (n N 0)%:R) + ln (D N (fun=> L) (fun=> 2%:R) k)) / m%:R)).
Check (@lemma_2_peeled_data : forall (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R) (m : nat) (x : 'I_m -> X)
    (L e : nat -> R) (k : nat) (q : exponent R),
  (forall s, peels (phi N s) (L s) (e s)) -> conjugate (p N) q -> (0 < m)%N -> (0 < k)%N ->
  Rad x (H Psi k) <= P N L k / P N L 1 *
    (Rad x (H Psi 1) + Lam N 1 0 / m%:R * Num.sqrt (2%:R * ln (D N L e k) * \sum_i norm q (Psi (x i)) ^+ 2))).
  Check (@P1 : forall (R : realType) (N : net R) (L : nat -> R), P N L 1 = Lam N 1 0 * root_q (p N) (n N 0)).
  Check (@PE : forall (R : realType) (N : net R) (L : nat -> R) (k : nat), (1 < k)%N ->
  P N L k = \sum_(1 <= s < k) Lam N k s * root_q (p N) (n N s) * L s * P N L s).
  Check (@D1 : forall (R : realType) (N : net R) (L e : nat -> R), D N L e 1 = 1).
  Check (@DE : forall (R : realType) (N : net R) (L e : nat -> R) (k : nat), (1 < k)%N ->
  D N L e k = \sum_(1 <= s < k) share N L k s * (e s * D N L e s)).

  Check (fun (R : realType) (N : net R) (L : nat -> R) (k s : nat) => erefl : share N L k s = Lam N k s * root_q (p N) (n N s) * L s * P N L s / P N L k).

(* lemma-2-peeled-offset *)
Check (@lemma_2_peeled_offset : forall (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R) (m : nat) (x : 'I_m -> X) (L : nat -> R) (k : nat),
  (forall s, lipschitz (L s) (phi N s)) -> (0 < m)%N -> (0 < n N 0)%N -> (0 < k)%N ->
  Rad x (H Psi k) <= Q N L (r_rms Psi x) k * Num.sqrt (2%:R * (ln (2%:R * (n N 0)%:R) + (k.-1)%:R * ln 2%:R) / m%:R)).

  Check (@Q1 : forall (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R) (m : nat) (x : 'I_m -> X) (L : nat -> R),
    Q N L (r_rms Psi x) 1 = r_rms Psi x * (Lam N 1 0 * root_q (p N) (n N 0))).
  Check (@QE : forall (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R) (m : nat) (x : 'I_m -> X) (L : nat -> R) (k : nat), (1 < k)%N ->
    Q N L (r_rms Psi x) k = \sum_(1 <= s < k) Lam N k s * root_q (p N) (n N s) * (L s * Q N L (r_rms Psi x) s + `|phi N s 0|)).

(* lemma-1-corrected: where the slopes of sigmoid, tanh, softplus and ELU lie, and what follows *)
Check (@slopes_sigmoid : forall R : realType, slopes 0 4%:R^-1 (@sigmoid R)).
Check (@slopes_tanh : forall R : realType, slopes 0 1 (@tanh R)).
Check (@slopes_softplus : forall R : realType, slopes 0 1 (@softplus R)).
Check (@slopes_elu : forall R : realType, slopes 0 1 (@elu R)).
  Check (fun R : realType => erefl : @tanh R = fun y => (expR y - expR (- y)) / (expR y + expR (- y))).
  Check (fun R : realType => erefl : @softplus R = fun y => ln (1 + expR y)).
  Check (fun R : realType => erefl : @elu R = fun y => if 0 <= y then y else expR y - 1).
Check (@lemma_1_sigmoid : forall (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R) (m : nat) (x : 'I_m -> X) (k : nat), (1 < k)%N -> (forall s, phi N s = @sigmoid R) ->
  Rad x (H Psi k) <= \sum_(1 <= s < k) Lam N k s * root_q (p N) (n N s) * (4%:R^-1 * Rad x (H Psi s) + 2%:R^-1 * mu R m)).
Check (@lemma_1_tanh : forall (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R) (m : nat) (x : 'I_m -> X) (k : nat), (1 < k)%N -> (forall s, phi N s = @tanh R) ->
  Rad x (H Psi k) <= \sum_(1 <= s < k) Lam N k s * root_q (p N) (n N s) * Rad x (H Psi s)).
Check (@lemma_1_softplus : forall (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R) (m : nat) (x : 'I_m -> X) (k : nat), (1 < k)%N -> (forall s, phi N s = @softplus R) ->
  Rad x (H Psi k) <= \sum_(1 <= s < k) Lam N k s * root_q (p N) (n N s) * (3%:R / 2%:R * Rad x (H Psi s) + ln 2%:R * mu R m)).
Check (@lemma_1_elu : forall (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R) (m : nat) (x : 'I_m -> X) (k : nat), (1 < k)%N -> (forall s, phi N s = @elu R) ->
  Rad x (H Psi k) <= 3%:R / 2%:R * \sum_(1 <= s < k) Lam N k s * root_q (p N) (n N s) * Rad x (H Psi s)).
Check (@lemma_2_elu : forall (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R) (m : nat) (x : 'I_m -> X) (k : nat), (0 < m)%N -> (0 < n N 0)%N -> (0 < k)%N -> (forall s, phi N s = @elu R) ->
  Rad x (H Psi k) <= r_rms Psi x * P N (fun=> 1) k * Num.sqrt (2%:R * (ln (2%:R * (n N 0)%:R) + ln (D N (fun=> 1) (fun=> 3%:R / 2%:R) k)) / m%:R)).
Check (@lemma_2_tanh : forall (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R) (m : nat) (x : 'I_m -> X) (k : nat), (0 < m)%N -> (0 < n N 0)%N -> (0 < k)%N -> (forall s, phi N s = @tanh R) ->
  Rad x (H Psi k) <= r_rms Psi x * P N (fun=> 1) k * Num.sqrt (2%:R * (ln (2%:R * (n N 0)%:R) + ln (D N (fun=> 1) (fun=> 1) k)) / m%:R)).

(* h1-exact *)
Check (@h1_exact : forall (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R) (m : nat) (x : 'I_m -> X) (q : exponent R),
  conjugate (p N) q -> Rad x (H Psi 1) = Lam N 1 0 / m%:R * E (fun s => norm q (fun j => dot s (fun i => Psi (x i) j)))).

(* h1-closed: q <= 2 is the second *)
Check (@h1_closed : forall (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R) (m : nat) (x : 'I_m -> X), (0 < m)%N -> (0 < n N 0)%N ->
  Rad x (H Psi 1) <= Lam N 1 0 * root_q (p N) (n N 0) * (r_rms Psi x * Num.sqrt (2%:R * ln (2%:R * (n N 0)%:R) / m%:R))).
Check (@h1_closed_small : forall (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R) (m : nat) (x : 'I_m -> X), (0 < m)%N ->
  forall (q : R) (q1 : 1 <= q), q <= 2%:R -> conjugate (p N) (Finite q1) ->
  Rad x (H Psi 1) <= Lam N 1 0 * root_q (p N) (n N 0) * (r_rms Psi x / Num.sqrt m%:R)).

(* adanet-comparison: h' is taken unless there is a tie; in the example F(w, h) < F(w', h') and the printed test takes h' *)
Check (@adanet_comparison_ties : forall (R : realType) (W Hyp : Type) (F : W -> Hyp -> R) (w w' : W) (h' : Hyp),
  (forall u, F w' h' <= F u h') -> (F w h' <= F w' h') = (F w h' == F w' h')).
Check (@adanet_comparison_example : forall R : realType, exists w w' : R,
  [/\ forall u, step 2%:R^-1 1 w <= step 2%:R^-1 1 u, forall u, step (3%:R / 4%:R) 2%:R^-1 w' <= step (3%:R / 4%:R) 2%:R^-1 u,
      step 2%:R^-1 1 w < step (3%:R / 4%:R) 2%:R^-1 w' & ~ (step (3%:R / 4%:R) 2%:R^-1 w <= step (3%:R / 4%:R) 2%:R^-1 w')]).
  Check (@stepE : forall (R : realType) (Gam h w : R), step Gam h w = Num.max 0 (1 - w * h) + Gam * `|w|).

(* depth-lower *)
Check (@depth_lower : forall (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R) (m : nat) (x : 'I_m -> X) (k : nat), layered N -> (1 < k)%N ->
  (forall s, phi N s = @relu R) \/ (forall s, phi N s = fun y => `|y|) ->
  Lam N k.+1 k * root_q (p N) (n N k) * Rad x (H Psi k) <= Rad x (H Psi k.+1)).
Check (@depth_lower_half : forall (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R) (m : nat) (x : 'I_m -> X) (k : nat), (0 < k)%N -> (forall s, phi N s = @relu R) ->
  Lam N k.+1 k * root_q (p N) (n N k) * Rad x (H Psi k) / 2%:R <= Rad x (H Psi k.+1)).

(* range *)
Check (@range : forall (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R) (L : nat -> R) (b : nat -> option R) (r : R),
  (forall s, lipschitz (L s) (phi N s)) -> (forall s c, b s = Some c -> forall y, `|phi N s y| <= c) ->
  0 <= r -> (forall x j, `|Psi x j| <= r) ->
  forall k h x, (0 < k)%N -> H Psi k h -> `|h x| <= M N L b r k).

  Check (@M1 : forall (R : realType) (N : net R) (L : nat -> R) (b : nat -> option R) (r : R), M N L b r 1 = Lam N 1 0 * root_q (p N) (n N 0) * r).
  Check (@ME : forall (R : realType) (N : net R) (L : nat -> R) (b : nat -> option R) (r : R) (k : nat), (1 < k)%N ->
    M N L b r k = \sum_(1 <= s < k) Lam N k s * root_q (p N) (n N s) * capped (b s) (L s * M N L b r s + `|phi N s 0|)).
  Check (fun (R : realType) (c y : R) => conj erefl erefl : capped (Some c) y = Num.min y c /\ capped None y = y).

(* cvx-closed-form *)
Check (@cvx_closed_form : forall (R : realType) (N : nat) (L : R) (e : 'I_N -> R), 0 <= L -> (exists j, e j != 0) ->
  forall (p : exponent R) (b : R) (b1 : 1 <= b), conjugate p (Finite b1) ->
  [/\ norm p (closed_form L e b1) = L, \sum_i closed_form L e b1 i * e i = L * norm (Finite b1) e &
      forall u, norm p u <= L -> \sum_i u i * e i <= \sum_i closed_form L e b1 i * e i]).
Check (@cvx_closed_form_1 : forall (R : realType) (N : nat) (L : R) (e : 'I_N -> R), 0 <= L -> (exists j, e j != 0) ->
  forall (p : exponent R) (j : 'I_N), conjugate p Infinite -> (forall i, `|e i| <= `|e j|) ->
  [/\ norm p (closed_form_argmax L e j) = L, \sum_i closed_form_argmax L e j i * e i = L * norm Infinite e &
      forall u, norm p u <= L -> \sum_i u i * e i <= \sum_i closed_form_argmax L e j i * e i]).

  Check (fun (R : realType) (N : nat) (L : R) (e : 'I_N -> R) (b : R) (b1 : 1 <= b) (i j : 'I_N) => conj erefl erefl :
    closed_form L e b1 i = L * Num.sg (e i) * powp `|e i| (b - 1) / powp (norm (Finite b1) e) (b - 1) /\
    closed_form_argmax L e j i = if i == j then L * Num.sg (e j) else 0).

(* cvx-sign, the printed form *)
Check (@cvx_sign : forall (R : realType) (L : R) (two : 1 <= 2%:R :> R), 0 < L ->
  \sum_(i < 1) (L * powp `|-1| (2%:R - 1) / powp (norm (Finite two) (fun _ : 'I_1 => -1)) (2%:R / 2%:R)) * -1 < 0).

(* cvx-stop *)
Check (@cvx_stop : forall (R : realType) (Phi dPhi : R -> R) (m N : nat) (y f : 'I_m -> R) (z : 'I_m -> 'I_N -> R) (Gam L : R)
    (p q : exponent R), conjugate p q -> 0 <= L -> 0 <= Gam -> convex Phi -> has_derivative Phi dPhi ->
  (forall w u, norm p u <= L -> objective Phi y f z Gam 0 u <= objective Phi y f z Gam w u) <->
  L * norm q (eps dPhi y f z) <= Gam).

  Check (fun (R : realType) (Phi dPhi : R -> R) (m N : nat) (y f : 'I_m -> R) (z : 'I_m -> 'I_N -> R) (Gam w : R) (u : 'I_N -> R) (j : 'I_N) => conj erefl erefl :
    objective Phi y f z Gam w u = m%:R^-1 * (\sum_i Phi (1 - y i * (f i + w * \sum_j u j * z i j))) + Gam * `|w| /\
    eps dPhi y f z j = m%:R^-1 * \sum_i dPhi (1 - y i * f i) * y i * z i j).
  Check (fun (R : realType) (Phi dPhi : R -> R) => erefl : has_derivative Phi dPhi =
    forall a e : R, 0 < e -> exists2 d, 0 < d & forall h, `|h| <= d -> `|Phi (a + h) - Phi a - dPhi a * h| <= e * `|h|).

(* cvx-decrease *)
Check (@cvx_decrease : forall (R : realType) (Phi dPhi : R -> R) (m N : nat) (y f : 'I_m -> R) (z : 'I_m -> 'I_N -> R) (Gam tau : R),
  smooth Phi dPhi tau -> (forall i, y i ^+ 2 = 1) -> forall u : 'I_N -> R,
  0 < tau * mean_square z u -> Gam <= \sum_j u j * eps dPhi y f z j ->
  exists2 w, 0 <= w & objective Phi y f z Gam w u <=
    objective Phi y f z Gam 0 u - (\sum_j u j * eps dPhi y f z j - Gam) ^+ 2 / (2%:R * (tau * mean_square z u))).
Check (@smooth_logistic : forall R : realType, smooth (@softplus R) (@sigmoid R) 4%:R^-1).

  Check (fun (R : realType) (Phi dPhi : R -> R) (tau : R) (m N : nat) (z : 'I_m -> 'I_N -> R) (u : 'I_N -> R) => conj erefl erefl :
    smooth Phi dPhi tau = (forall a b, Phi b <= Phi a + dPhi a * (b - a) + tau * (b - a) ^+ 2 / 2%:R) /\
    mean_square z u = m%:R^-1 * \sum_i (\sum_j u j * z i j) ^+ 2).

(* margin-bound, distributions of finite support: w_a are the probabilities of the atoms a, Ex the mean over m draws *)
Check (@margin_bound : forall (R : realType) (I : finType) (w : I -> R) (l m : nat) (G : 'I_l -> set (I -> R)) (M rho : R),
  (forall i, 0 <= w i) -> \sum_i w i = 1 -> (0 < m)%N -> (0 < l)%N -> 0 < rho ->
  (forall k, G k (fun=> 0)) -> (forall k g, G k g -> G k (fun a => - g a)) -> (forall k g a, G k g -> `|g a| <= M) ->
  forall delta : R, 0 < delta < 1 ->
  Ex w (fun S : {ffun 'I_m -> I} => (failure w G rho
    (2%:R * M / rho * Num.sqrt (2%:R * ln l%:R / m%:R) + Num.sqrt (ln delta^-1 / (2%:R * m%:R))) S)%:R) <= delta).
Check (@margin_bound_networks : forall (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R) (I : finType) (w : I -> R)
    (xs : I -> X) (ys : I -> bool) (l m : nat) (M rho delta : R),
  (forall i, 0 <= w i) -> \sum_i w i = 1 -> (0 < m)%N -> (0 < l)%N -> 0 < rho ->
  (forall (k : 'I_l) h a, H Psi k.+1 h -> `|h (xs a)| <= M) -> 0 < delta < 1 ->
  Ex w (fun S : {ffun 'I_m -> I} => (failure w (fun k : 'I_l => margins xs ys (H Psi k.+1)) rho
    (2%:R * M / rho * Num.sqrt (2%:R * ln l%:R / m%:R) + Num.sqrt (ln delta^-1 / (2%:R * m%:R))) S)%:R) <= delta).
Check (@Rad_margins : forall (R : realType) (I : finType) (X : Type) (xs : I -> X) (ys : I -> bool) (m : nat) (F : set (X -> R))
    (S : {ffun 'I_m -> I}), Rad (fun i => S i) (margins xs ys F) = Rad (fun i => xs (S i)) F).
  Check (fun (R : realType) (I : finType) (w : I -> R) (l m : nat) (G : 'I_l -> set (I -> R)) (rho eps : R) (S : {ffun 'I_m -> I}) => erefl :
    failure w G rho eps S = `[< exists th, admissible G th /\ ramp_loss rho S th + 2%:R * penalty w m G rho th + eps < risk w th >]).
  Check (fun (R : realType) (I : finType) (w : I -> R) (l m : nat) (G : 'I_l -> set (I -> R)) (rho : R) (th : ensemble R I l) => erefl :
    penalty w m G rho th = rho^-1 * \sum_t `|weight t| * Ex w (fun S : {ffun 'I_m -> I} => Rad (fun i => S i) (G (layer (e := th) t)))).

  Check (@Ensemble : forall (R : realType) (I : finType) (l T : nat), ('I_T -> R) -> ('I_T -> 'I_l) -> ('I_T -> I -> R) -> ensemble R I l).
  Check (fun (R : realType) (I : finType) (l T : nat) (a : 'I_T -> R) (k : 'I_T -> 'I_l) (g : 'I_T -> I -> R) => let f := Ensemble a k g in
    And4 erefl erefl erefl erefl : [/\ size f = T, weight (e := f) = a, layer (e := f) = k & unit_of (e := f) = g]).
  Check (fun (R : realType) (I : finType) (w : I -> R) (l m : nat) (G : 'I_l -> set (I -> R)) (rho : R) (S : {ffun 'I_m -> I}) (th : ensemble R I l) (a : I) =>
    And4 erefl erefl erefl erefl :
    [/\ admissible G th = (\sum_t `|weight (e := th) t| = 1 /\ forall t, G (layer t) (unit_of (e := th) t)),
        value th a = \sum_t weight t * unit_of (e := th) t a, risk w th = \sum_a w a * ((value th a <= 0)%R)%:R &
        ramp_loss rho S th = m%:R^-1 * \sum_i ramp rho (value th (S i))]).
  Check (fun (R : realType) (I : finType) (X : Type) (xs : I -> X) (ys : I -> bool) (F : set (X -> R)) => erefl :
    margins xs ys F = [set g | exists2 h, F h & forall a, g a = (-1) ^+ ys a * h (xs a)]).

(* margin-bound-uniform: all w, not normalised, and all integers j at once; Rm is R_m, spread is W_M *)
Check (@margin_bound_uniform : forall (R : realType) (I : finType) (w : I -> R) (l m : nat) (G : 'I_l -> set (I -> R)) (M : 'I_l -> R) (eta delta : R),
  (forall i, 0 <= w i) -> \sum_i w i = 1 -> (0 < m)%N -> (0 < l)%N -> 0 < eta -> 0 < delta < 1 ->
  (forall k, G k (fun=> 0)) -> (forall k g, G k g -> G k (fun a => - g a)) -> (forall k g a, G k g -> `|g a| <= M k) ->
  Ex w (fun S : {ffun 'I_m -> I} => `[< exists (th : ensemble R I l) (j : int),
    [/\ forall t, G (layer t) (unit_of (e := th) t), 0 < spread M th &
      ramp_loss (spread M th / scale eta j) S th + 2%:R / (spread M th / scale eta j) * (\sum_t `|weight t| * Rm w m G (layer (e := th) t))
      + 2%:R * scale eta j * Num.sqrt (2%:R * ln l%:R / m%:R)
      + Num.sqrt ((ln delta^-1 + (ln (pi ^+ 2 / 3%:R - 1) + 2%:R * ln `|j|%N.+1%:R)) / (2%:R * m%:R)) < risk w th] >]%:R) <= delta).
Check (@margin_bound_uniform_networks : forall (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R) (I : finType) (w : I -> R)
    (xs : I -> X) (ys : I -> bool) (l m : nat) (L : nat -> R) (b : nat -> option R) (r eta delta : R),
  (forall i, 0 <= w i) -> \sum_i w i = 1 -> (0 < m)%N -> (0 < l)%N -> 0 < eta -> 0 < delta < 1 ->
  (forall s, lipschitz (L s) (phi N s)) -> (forall s c, b s = Some c -> forall y, `|phi N s y| <= c) -> 0 <= r -> (forall x j, `|Psi x j| <= r) ->
  let G (k : 'I_l) := margins xs ys (H Psi k.+1) in let W th := spread (fun k : 'I_l => M N L b r k.+1) th in
  Ex w (fun S : {ffun 'I_m -> I} => `[< exists (th : ensemble R I l) (j : int), [/\ forall t, G (layer t) (unit_of (e := th) t), 0 < W th &
    ramp_loss (W th / scale eta j) S th + 2%:R / (W th / scale eta j) * (\sum_t `|weight t| * Rm w m G (layer (e := th) t))
    + 2%:R * scale eta j * Num.sqrt (2%:R * ln l%:R / m%:R)
    + Num.sqrt ((ln delta^-1 + (ln (pi ^+ 2 / 3%:R - 1) + 2%:R * ln `|j|%N.+1%:R)) / (2%:R * m%:R)) < risk w th] >]%:R) <= delta).
  Check (fun (R : realType) (I : finType) (w : I -> R) (l m : nat) (G : 'I_l -> set (I -> R)) (M : 'I_l -> R) (k : 'I_l) (th : ensemble R I l) => conj erefl erefl :
    Rm w m G k = Ex w (fun S : {ffun 'I_m -> I} => Rad (fun i => S i) (G k)) /\ spread M th = \sum_t `|weight t| * M (layer (e := th) t)).

(* margin-bound-empirical: the quarter of δ that is left is for signs that are drawn *)
Check (@margin_bound_empirical : forall (R : realType) (I : finType) (w : I -> R) (l m : nat) (G : 'I_l -> set (I -> R)) (M : 'I_l -> R) (B rho delta : R),
  (forall i, 0 <= w i) -> \sum_i w i = 1 -> (0 < m)%N -> (0 < l)%N -> 0 < rho -> 0 < delta < 1 ->
  (forall k, G k (fun=> 0)) -> (forall k g, G k g -> G k (fun a => - g a)) -> (forall k g a, G k g -> `|g a| <= M k) -> (forall k, M k <= B) ->
  Ex w (fun S : {ffun 'I_m -> I} => `[< exists th, admissible G th /\
    ramp_loss rho S th
    + 2%:R / rho * (\sum_t `|weight t| * (Rad (fun i => S i) (G (layer (e := th) t)) + M (layer t) * Num.sqrt (ln (4%:R * l%:R / delta) / (2%:R * m%:R))))
    + 2%:R * B / rho * Num.sqrt (2%:R * ln l%:R / m%:R) + Num.sqrt (ln (2%:R / delta) / (2%:R * m%:R)) < risk w th >]%:R) <= 3%:R / 4%:R * delta).

(* margin-bound-unbounded and unbounded-empirical: c codes the rounded shares, 0 for a layer without weight and j + 1 for (1+eta)^-j *)
Check (@margin_bound_unbounded : forall (R : realType) (I : finType) (w : I -> R) (l m : nat) (G : 'I_l -> set (I -> R)) (rho eta delta : R),
  (forall i, 0 <= w i) -> \sum_i w i = 1 -> (0 < m)%N -> 0 < rho -> 0 < eta -> 0 < delta < 1 ->
  (forall k, G k (fun=> 0)) -> (forall k g, G k g -> G k (fun a => - g a)) -> (forall k a, exists M, forall g, G k g -> `|g a| <= M) ->
  Ex w (fun S : {ffun 'I_m -> I} => `[< exists (c : {ffun 'I_l -> nat}) (th : ensemble R I l), rounds G eta c th /\
    ramp_loss rho S th + 2%:R / rho * (\sum_k rounded eta (c k) * Rm w m G k)
      + Num.sqrt ((ln delta^-1 + log_prices R c) / (2%:R * m%:R)) < risk w th >]%:R) <= delta).
Check (@unbounded_empirical : forall (R : realType) (I : finType) (w : I -> R) (l m : nat) (G : 'I_l -> set (I -> R)) (rho eta delta : R),
  (forall i, 0 <= w i) -> \sum_i w i = 1 -> (0 < m)%N -> 0 < rho -> 0 < eta -> 0 < delta < 1 ->
  (forall k, G k (fun=> 0)) -> (forall k g, G k g -> G k (fun a => - g a)) -> (forall k a, exists M, forall g, G k g -> `|g a| <= M) ->
  Ex w (fun S : {ffun 'I_m -> I} => `[< exists (c : {ffun 'I_l -> nat}) (th : ensemble R I l), rounds G eta c th /\
    ramp_loss rho S th + 2%:R / rho * (\sum_k rounded eta (c k) * Rad (fun i => S i) (G k))
      + 2%:R * Num.sqrt ((ln delta^-1 + log_prices R c) / (2%:R * m%:R)) < risk w th >]%:R) <= delta).
Check (@rounding : forall (R : realType) (eta x : R), 0 < eta -> 0 <= x <= 1 -> exists c, x <= rounded eta c <= (1 + eta) * x).
Check (@margins_of_families : forall (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R) (I : finType) (xs : I -> X) (ys : I -> bool) (k : nat),
  (forall s, locally_bounded (phi N s)) -> let G := margins xs ys (H Psi k.+1) in
  [/\ G (fun=> 0), forall g, G g -> G (fun a => - g a) & forall a, exists M, forall g, G g -> `|g a| <= M]).
  Check (fun (R : realType) (I : finType) (l : nat) (G : 'I_l -> set (I -> R)) (eta : R) (c : {ffun 'I_l -> nat}) (th : ensemble R I l) (k : 'I_l) => And3 erefl erefl erefl :
    [/\ share_of th k = \sum_(t | layer (e := th) t == k) `|weight t|, rounds G eta c th = (admissible G th /\ forall k, share_of th k <= rounded eta (c k)) &
        log_prices R c = \sum_k ln (price R (c k))^-1]).
  Check (fun (R : realType) (eta : R) (j : nat) => And4 erefl erefl erefl erefl :
    [/\ rounded eta 0 = 0, rounded eta j.+1 = ((1 + eta) ^+ j)^-1, price R 0 = 2%:R^-1 & price R j.+1 = (2 * (j.+1 * j.+2))%:R^-1]).

(* objective-bound: all w, not normalised, all rho and all Phi above the ramp; e^x and log(1 + e^x) are, at rho = 1 *)
Check (@objective_bound : forall (R : realType) (I : finType) (w : I -> R) (l m : nat) (G : 'I_l -> set (I -> R)) (M : 'I_l -> R) (eta delta : R),
  (forall i, 0 <= w i) -> \sum_i w i = 1 -> (0 < m)%N -> (0 < l)%N -> 0 < eta -> 0 < delta < 1 ->
  (forall k, G k (fun=> 0)) -> (forall k g, G k g -> G k (fun a => - g a)) -> (forall k g a, G k g -> `|g a| <= M k) ->
  Ex w (fun S : {ffun 'I_m -> I} => `[< exists (th : ensemble R I l) (rho : R) (Phi : R -> R),
    [/\ forall t, G (layer t) (unit_of (e := th) t), 0 < spread M th, 0 < rho, forall u, ramp rho u <= Phi (1 - u) &
      m%:R^-1 * (\sum_i Phi (1 - value th (S i)))
      + \sum_t `|weight t| * (2%:R * (1 + eta) / rho * (Rm w m G (layer (e := th) t) + M (layer t) * Num.sqrt (2%:R * ln l%:R / m%:R)))
      + Num.sqrt ((ln delta^-1 + (ln (pi ^+ 2 / 3%:R - 1) + 2%:R * ln (2%:R + `|log_to eta (spread M th / rho)|))) / (2%:R * m%:R)) < risk w th] >]%:R) <= delta).
Check (@surrogates_above_ramp : forall (R : realType) (u : R), ramp 1 u <= expR (1 - u) /\ ramp 1 u <= softplus (1 - u)).
  Check (fun (R : realType) (eta x : R) => erefl : log_to eta x = ln x / ln (1 + eta)).

(* a-posteriori, distributions of finite support: every network f of any depth d f, widths and weights, and every integer j at once *)
Check (@a_posteriori : forall (R : realType) (X : Type) (n0 : nat) (Psi : X -> 'I_n0 -> R) (phi : R -> R) (c : R) (I : finType) (w : I -> R)
    (xs : I -> X) (ys : I -> bool) (m : nat) (eta delta : R), homogeneous phi -> peels phi 1 c -> (0 < n0)%N ->
  (forall i, 0 <= w i) -> \sum_i w i = 1 -> (0 < m)%N -> 0 < eta -> 0 < delta < 1 ->
  Ex w (fun S : {ffun 'I_m -> I} => `[< exists (f : network R n0) (j : int), 0 < path_norm f /\
    network_ramp Psi phi xs ys (path_norm f / scale eta j) S f
      + 2%:R * scale eta j * (r_rms Psi (fun i => xs (S i)) * Num.sqrt (2%:R * ln (2%:R * n0%:R * A c (d f)) / m%:R))
      + 2%:R * confidence m delta (d f) j < network_risk Psi phi w xs ys f >]%:R) <= delta).
Check (@homogeneous_activations : forall R : realType, [/\ homogeneous (@relu R) /\ peels (@relu R) 1 (3%:R / 2%:R),
  forall a : R, `|a| <= 1 -> homogeneous (leaky a) /\ peels (leaky a) 1 ((3%:R - a) / 2%:R),
  homogeneous (fun y : R => `|y|) /\ peels (fun y : R => `|y|) 1 2%:R & homogeneous (@id R) /\ peels (@id R) 1 1]).

(* a-posteriori-bounded *)
Check (@a_posteriori_bounded : forall (R : realType) (X : Type) (n0 : nat) (Psi : X -> 'I_n0 -> R) (phi : R -> R) (c : R) (I : finType) (w : I -> R)
    (xs : I -> X) (ys : I -> bool) (m : nat) (eta delta : R), homogeneous phi -> peels phi 1 c -> (0 < n0)%N ->
  (forall i, 0 <= w i) -> \sum_i w i = 1 -> (0 < m)%N -> 0 < eta -> 0 < delta < 1 ->
  forall r : R, 0 <= r -> (forall a i, `|Psi (xs a) i| <= r) ->
  Ex w (fun S : {ffun 'I_m -> I} => `[< exists (f : network R n0) (j : int), 0 < path_norm f /\
    network_ramp Psi phi xs ys (path_norm f / scale eta j) S f
      + 2%:R * scale eta j * (r * Num.sqrt (2%:R * ln (2%:R * n0%:R * A c (d f)) / m%:R))
      + confidence m delta (d f) j < network_risk Psi phi w xs ys f >]%:R) <= delta).
  Check (fun (R : realType) (m : nat) (delta : R) (k : nat) (j : int) => erefl : confidence m delta k j =
    Num.sqrt ((ln delta^-1 + (ln (k.+1 * k.+2)%:R + ln (pi ^+ 2 / 3%:R - 1) + 2%:R * ln `|j|%N.+1%:R)) / (2%:R * m%:R))).
  Check (fun (R : realType) (c : R) => conj erefl (fun=> erefl) : A c 0 = 1 + 0 /\ forall k, A c k.+1 = 1 + c * (1 + c) ^+ k).
  Check (fun (R : realType) (eta : R) (j : int) => erefl : scale eta j = (1 + eta) ^ j).
  Check (fun (R : realType) (X : Type) (n0 : nat) (Psi : X -> 'I_n0 -> R) (phi : R -> R) (I : finType) (w : I -> R) (xs : I -> X) (ys : I -> bool)
      (f : network R n0) => erefl :
    network_risk Psi phi w xs ys f = \sum_a w a * (((-1) ^+ ys a * output Psi phi f (xs a) <= 0)%R)%:R).
  Check (fun (R : realType) (X : Type) (n0 : nat) (Psi : X -> 'I_n0 -> R) (phi : R -> R) (I : finType) (xs : I -> X) (ys : I -> bool) (m : nat) (rho : R)
      (S : {ffun 'I_m -> I}) (f : network R n0) => erefl :
    network_ramp Psi phi xs ys rho S f = m%:R^-1 * \sum_i ramp rho ((-1) ^+ ys (S i) * output Psi phi f (xs (S i)))).
  Check (@Network : forall (R : realType) (n0 : nat), nat -> (nat -> nat) -> (nat -> 'I_n0 -> R) -> (nat -> nat -> nat -> nat -> R) -> ('I_n0 -> R) ->
    (nat -> nat -> R) -> network R n0).
  Check (fun (R : realType) (X : Type) (n0 : nat) (Psi : X -> 'I_n0 -> R) (phi : R -> R) (f : network R n0) (x : X) => erefl :
    output Psi phi f x = \sum_j v0 f j * Psi x j + \sum_(1 <= s < (d f).+1) \sum_(t < width f s) v f s t * phi (unit_value Psi phi f x s t)).
  Check (fun (R : realType) (n0 : nat) (f : network R n0) => erefl :
    path_norm f = \sum_j `|v0 f j| + \sum_(1 <= s < (d f).+1) \sum_(t < width f s) `|v f s t| * path f s t).
  Check (@unit_value1 : forall (R : realType) (X : Type) (n0 : nat) (Psi : X -> 'I_n0 -> R) (phi : R -> R) (f : network R n0) (x : X) (i : nat),
    unit_value Psi phi f x 1 i = \sum_j U1 f i j * Psi x j).
  Check (@unit_valueE : forall (R : realType) (X : Type) (n0 : nat) (Psi : X -> 'I_n0 -> R) (phi : R -> R) (f : network R n0) (x : X) (k i : nat),
    (1 < k)%N -> unit_value Psi phi f x k i = \sum_(1 <= s < k) \sum_(t < width f s) U f k i s t * phi (unit_value Psi phi f x s t)).
  Check (@path1 : forall (R : realType) (n0 : nat) (f : network R n0) (i : nat), path f 1 i = \sum_j `|U1 f i j|).
  Check (@pathE : forall (R : realType) (n0 : nat) (f : network R n0) (k i : nat),
    (1 < k)%N -> path f k i = \sum_(1 <= s < k) \sum_(t < width f s) `|U f k i s t| * path f s t).

(* deepboost-restated: the bound with no condition on the range of h; C is the confidence term of Theorem 1 *)
Check (@deepboost_restated_false : forall R : realType, ~ deepboost R).
  Check (fun R : realType => erefl : deepboost R =
    forall (I : finType) (w : I -> R) (y : I -> bool) (K : finType) (G : K -> set (I -> R)) (m : nat) (rho delta : R),
    (forall i, 0 <= w i) -> \sum_i w i = 1 -> (1 < #|K|)%N -> (0 < m)%N -> 0 < rho -> 0 < delta < 1 ->
    Ex w (fun S : {ffun 'I_m -> I} => `[< exists (T : finType) (al : T -> R) (k : T -> K) (h : T -> I -> R),
      [/\ forall t, 0 <= al t, \sum_t al t = 1, forall t, G (k t) (h t) &
        m%:R^-1 * (\sum_i (((-1) ^+ y (S i) * (\sum_t al t * h t (S i)) <= rho)%R)%:R)
        + 4%:R / rho * (\sum_t al t * Ex w (fun S' : {ffun 'I_m -> I} => Rad (fun i => S' i) (G (k t))))
        + 2%:R / rho * Num.sqrt (ln #|K|%:R / m%:R) + C rho #|K| m delta
        < \sum_a w a * (((-1) ^+ y a * (\sum_t al t * h t a) <= 0)%R)%:R] >]%:R) <= delta).
  Check (fun (R : realType) (rho : R) (l m : nat) (delta : R) => erefl : C rho l m delta =
    Num.sqrt ((ceil (4%:R / rho ^+ 2 * ln (rho ^+ 2 * m%:R / ln l%:R)))%:~R * ln l%:R / m%:R + ln (2%:R / delta) / (2%:R * m%:R))).

(* held-out, distributions of finite support: wrong a says whether f errs at a *)
Check (@held_out : forall (R : realType) (I : finType) (w : I -> R) (wrong : I -> bool), (forall i, 0 <= w i) -> \sum_i w i = 1 ->
  forall (m : nat) (delta : R), 0 <= delta ->
  Ex w (fun S : {ffun 'I_m -> I} => ((clopper_pearson m (errors wrong S) delta < error_rate w wrong)%R)%:R) <= delta).
Check (@errors_law : forall (R : realType) (I : finType) (w : I -> R) (wrong : I -> bool), \sum_i w i = 1 -> forall m k : nat,
  Ex w (fun S : {ffun 'I_m -> I} => (errors wrong S == k)%:R) = pmf m k (error_rate w wrong)).
  Check (fun (R : realType) (m e : nat) (delta : R) => erefl :
    clopper_pearson m e delta = sup [set p | 0 <= p <= 1 /\ delta <= \sum_(k < e.+1) 'C(m, k)%:R * p ^+ k * (1 - p) ^+ (m - k)]).
  Check (fun (R : realType) (I : finType) (w : I -> R) (wrong : I -> bool) (m : nat) (S : {ffun 'I_m -> I}) => conj erefl erefl :
    error_rate w wrong = \sum_a w a * (wrong a)%:R /\ errors wrong S = (\sum_i wrong (S i))%N).

(* pac-bayes-kl, distributions of finite support, finitely many hypotheses, a loss in [0, 1]; kl(q, p) = sup_l dual l q p *)
Check (@pac_bayes_dual : forall (R : realType) (I Hyp : finType) (w : I -> R) (loss : Hyp -> I -> R) (m : nat) (P : Hyp -> R) (delta : R),
  (forall i, 0 <= w i) -> \sum_i w i = 1 -> (0 < m)%N -> (forall h a, 0 <= loss h a <= 1) -> (forall h, 0 < P h) -> \sum_h P h = 1 -> 0 < delta ->
  Ex w (fun S : {ffun 'I_m -> I} => `[< exists (Q : Hyp -> R) (l : R), law Q /\
    KL P Q + ln (xi R m / delta) < m%:R * dual l (mean_sample loss S Q) (mean_rate w loss Q) >]%:R) <= delta).
Check (@pac_bayes_kl : forall (R : realType) (I Hyp : finType) (w : I -> R) (loss : Hyp -> I -> R) (m : nat) (P : Hyp -> R) (delta : R),
  (forall i, 0 <= w i) -> \sum_i w i = 1 -> (0 < m)%N -> (forall h a, 0 <= loss h a <= 1) -> (forall h, 0 < P h) -> \sum_h P h = 1 -> 0 < delta ->
  Ex w (fun S : {ffun 'I_m -> I} => `[< exists Q : Hyp -> R, [/\ law Q, 0 < mean_rate w loss Q < 1 &
    (KL P Q + ln (xi R m / delta)) / m%:R < kl (mean_sample loss S Q) (mean_rate w loss Q)] >]%:R) <= delta).
Check (@pac_bayes_inverse : forall (R : realType) (I Hyp : finType) (w : I -> R) (loss : Hyp -> I -> R) (m : nat) (P : Hyp -> R) (delta : R),
  (forall i, 0 <= w i) -> \sum_i w i = 1 -> (0 < m)%N -> (forall h a, 0 <= loss h a <= 1) -> (forall h, 0 < P h) -> \sum_h P h = 1 -> 0 < delta ->
  Ex w (fun S : {ffun 'I_m -> I} => `[< exists Q : Hyp -> R, law Q /\
    kl_inverse (mean_sample loss S Q) ((KL P Q + ln (xi R m / delta)) / m%:R) < mean_rate w loss Q >]%:R) <= delta).
Check (@derandomised : forall (R : realType) (I Hyp : finType) (w : I -> R) (loss : Hyp -> I -> R) (m : nat) (P : Hyp -> R) (delta : R),
  (forall i, 0 <= w i) -> \sum_i w i = 1 -> (0 < m)%N -> (forall h a, 0 <= loss h a <= 1) -> (forall h, 0 < P h) -> \sum_h P h = 1 -> 0 < delta ->
  Ex w (fun S : {ffun 'I_m -> I} => `[< exists (Q : Hyp -> R) (b : R) (wrong : I -> bool), [/\ law Q, 0 < b,
    forall a, b * (wrong a)%:R <= \sum_h Q h * loss h a &
    kl_inverse (mean_sample loss S Q) ((KL P Q + ln (xi R m / delta)) / m%:R) / b < error_rate w wrong] >]%:R) <= delta).
Check (@kl_inverse_grows : forall (R : realType) (q q' c c' : R), 0 <= q -> q <= q' -> q' <= 1 -> 0 <= c -> c <= c' -> kl_inverse q c <= kl_inverse q' c').
Check (@kl_le_dual : forall (R : realType) (q p c : R), 0 <= q <= 1 -> 0 < p < 1 -> (forall l, dual l q p <= c) -> kl q p <= c).
Check (@dual_le_kl : forall (R : realType) (q p l : R), 0 <= q <= 1 -> 0 <= p <= 1 -> (p = 0 -> q = 0) -> (p = 1 -> q = 1) -> dual l q p <= kl q p).
  Check (fun (R : realType) (q p l c : R) (m : nat) => And4 erefl erefl erefl erefl :
    [/\ kl q p = q * ln (q / p) + (1 - q) * ln ((1 - q) / (1 - p)), dual l q p = l * q - ln (1 - p + p * expR l),
        kl_inverse q c = sup [set p | 0 <= p <= 1 /\ forall l, dual l q p <= c] &
        xi R m = \sum_(k < m.+1) 'C(m, k)%:R * (k%:R / m%:R) ^+ k * (1 - k%:R / m%:R) ^+ (m - k)]).
  Check (fun (R : realType) (I Hyp : finType) (w : I -> R) (loss : Hyp -> I -> R) (m : nat) (P Q : Hyp -> R) (S : {ffun 'I_m -> I}) =>
    And4 erefl erefl erefl erefl :
    [/\ law Q = ((forall h, 0 <= Q h) /\ \sum_h Q h = 1), KL P Q = \sum_h Q h * ln (Q h / P h), mean_rate w loss Q = \sum_h Q h * \sum_a w a * loss h a &
        mean_sample loss S Q = \sum_h Q h * (m%:R^-1 * \sum_i loss h (S i))]).

(* vote-certificate, distributions of finite support: all f, laws theta on the 2 n_0 signed voters and settings (N, k, beta) at once; cdf is P[Bin <= k] *)
Check (@vote_certificate : forall (R : realType) (X : Type) (n0 : nat) (Psi : X -> 'I_n0 -> R) (I : finType) (w : I -> R) (xs : I -> X) (ys : I -> bool)
    (m : nat) (K : eqType) (N k : K -> nat) (beta prior : K -> R) (delta : R),
  (forall i, 0 <= w i) -> \sum_i w i = 1 -> (0 < m)%N -> (forall a j, `|Psi (xs a) j| <= 1) ->
  (forall s, 0 <= beta s) -> (forall s, 0 < prior s) -> (forall r, uniq r -> \sum_(s <- r) prior s <= 1) -> 0 < delta ->
  Ex w (fun S : {ffun 'I_m -> I} => `[< exists (s : K) (v : 'I_n0 -> R) (theta : 'I_n0 * bool -> R) (B : R), represents theta B v /\
    kl_inverse (m%:R^-1 * \sum_i cdf (N s) (k s) ((1 + linear_margin Psi xs ys v (S i) / B) / 2%:R))
      ((vote_KL (n0 * 2) (N s) (beta s) theta + ln (xi R m / (delta * prior s))) / m%:R) / cdf (N s) (k s) 2%:R^-1
    < linear_risk Psi w xs ys v >]%:R) <= delta).
Check (@vote_certificate_grid : forall (R : realType) (X : Type) (n0 : nat) (Psi : X -> 'I_n0 -> R) (I : finType) (w : I -> R) (xs : I -> X) (ys : I -> bool)
    (m g b : nat) (N : 'I_g -> nat) (beta : 'I_b -> R) (delta : R),
  (forall i, 0 <= w i) -> \sum_i w i = 1 -> (0 < m)%N -> (forall a j, `|Psi (xs a) j| <= 1) -> (forall j, 0 <= beta j) -> 0 < delta ->
  Ex w (fun S : {ffun 'I_m -> I} => `[< exists (i : 'I_g) (j : 'I_b) (k : nat) (v : 'I_n0 -> R) (theta : 'I_n0 * bool -> R) (B : R),
    [/\ (k <= N i)%N, represents theta B v &
      kl_inverse (m%:R^-1 * \sum_t cdf (N i) k ((1 + linear_margin Psi xs ys v (S t) / B) / 2%:R))
        ((vote_KL (n0 * 2) (N i) (beta j) theta + ln (xi R m * (g * b * (N i).+1)%:R / delta)) / m%:R) / cdf (N i) k 2%:R^-1
      < linear_risk Psi w xs ys v] >]%:R) <= delta).
Check (@represented : forall (R : realType) (n0 : nat) (v : 'I_n0 -> R), (exists j, v j != 0) ->
  represents (fun q => if (v q.1 < 0) == q.2 then `|v q.1| / \sum_j `|v j| else 0) (\sum_j `|v j|) v).
  Check (fun (R : realType) (n0 : nat) (theta : 'I_n0 * bool -> R) (B : R) (v : 'I_n0 -> R) => erefl :
    represents theta B v = [/\ 0 < B, law theta & forall j, v j = B * (theta (j, false) - theta (j, true))]).
  Check (fun (R : realType) (X : Type) (n0 : nat) (Psi : X -> 'I_n0 -> R) (I : finType) (w : I -> R) (xs : I -> X) (ys : I -> bool) (v : 'I_n0 -> R) (a : I) =>
    conj erefl erefl : linear_margin Psi xs ys v a = (-1) ^+ ys a * (\sum_j v j * Psi (xs a) j) /\
    linear_risk Psi w xs ys v = \sum_a w a * ((linear_margin Psi xs ys v a <= 0)%R)%:R).
  Check (fun (R : realType) (m k : nat) (p : R) => conj erefl erefl :
    cdf m k p = (\sum_(c < k.+1) pmf m c p) /\ pmf m k p = 'C(m, k)%:R * p ^+ k * (1 - p) ^+ (m - k)).
  Check (fun (R : realType) (T : finType) (n N : nat) (beta : R) (theta : T -> R) => erefl : vote_KL n N beta theta =
    if beta == 0 then N%:R * \sum_v theta v * ln (n%:R * theta v)
    else N%:R * (\sum_v theta v * ln (theta v)) + \sum_(i < N) ln (n%:R * beta + i%:R)
         - \sum_v \sum_(c < N.+1) pmf N c (theta v) * \sum_(i < c) ln (beta + i%:R)).

(* occam-certificate, distributions of finite support: any networks, also infinitely many; wrong h a says whether h errs at a *)
Check (@occam_certificate : forall (R : realType) (I : finType) (w : I -> R) (m : nat) (Net : eqType) (wrong : Net -> I -> bool),
  (forall i, 0 <= w i) -> \sum_i w i = 1 -> forall (P : Net -> R) (delta : R),
  (forall h, 0 <= P h) -> (forall r, uniq r -> \sum_(h <- r) P h <= 1) -> 0 <= delta ->
  Ex w (fun S : {ffun 'I_m -> I} => `[< exists h, clopper_pearson m (errors (wrong h) S) (delta * P h) < error_rate w (wrong h) >]%:R) <= delta).
Check (@kraft : forall (R : realType) (Net : eqType) (code : Net -> seq bool), code_free code ->
  forall r : seq Net, uniq r -> \sum_(h <- r) 2%:R^-1 ^+ seq.size (code h) <= 1 :> R).
Check (@occam_code : forall (R : realType) (I : finType) (w : I -> R) (m : nat) (Net : eqType) (wrong : Net -> I -> bool),
  (forall i, 0 <= w i) -> \sum_i w i = 1 -> forall (code : Net -> seq bool) (delta : R), code_free code -> 0 <= delta ->
  Ex w (fun S : {ffun 'I_m -> I} => `[< exists h,
    clopper_pearson m (errors (wrong h) S) (delta * 2%:R^-1 ^+ seq.size (code h)) < error_rate w (wrong h) >]%:R) <= delta).
Check (@occam_trivial : forall (R : realType) (m e : nat) (delta : R), delta <= 1 -> clopper_pearson m m delta = 1 /\ clopper_pearson m e 0 = 1 :> R).
  Check (fun (Net : eqType) (code : Net -> seq bool) => erefl : code_free code = (forall h h', prefix (code h) (code h') -> h = h')).

(* disagreement-certificate, distributions of finite support: o is what training saw, with any law v; an answer is a label, or None (a tie, no number) *)
Check (@disagreement_certificate : forall (R : realType) (I Omega : finType) (w : I -> R) (v : Omega -> R) (X : Type) (Label : eqType) (xs : I -> X) (ys : I -> Label),
  (forall i, 0 <= w i) -> \sum_i w i = 1 -> (forall o, 0 <= v o) -> \sum_o v o = 1 ->
  forall (f g : Omega -> X -> option Label) (b : Omega -> R) (n : nat) (delta1 delta2 : R), 0 <= delta2 ->
  \sum_o v o * ((b o < error_rate w (errs xs ys (g o)))%R)%:R <= delta1 ->
  \sum_o v o * Ex w (fun U : {ffun 'I_n -> I} =>
    ((b o + clopper_pearson n (errors (fun a => differs (f o) (g o) (xs a)) U) delta2 < error_rate w (errs xs ys (f o)))%R)%:R) <= delta1 + delta2).
  Check (fun (X I : Type) (Label : eqType) (xs : I -> X) (ys : I -> Label) (f g : X -> option Label) (a : I) (x : X) => conj erefl erefl :
    errs xs ys f a = (f (xs a) != Some (ys a)) /\ differs f g x = ~~ (f x && (f x == g x))).

(* pick-certificate, distributions of finite support. T and q of pick: the rounds of picks, and the inappropriate rows that remain; wrong T z: A(T) errs at z *)
Check (@pick_certificate : forall (R : realType) (I : finType) (w : I -> R) (worse : seq (seq I) -> rel I) (bad : seq (seq I) -> pred I) (r : seq (seq I) -> nat)
    (stop : seq (seq I) -> bool) (wrong : seq (seq I) -> I -> bool) (N : nat) (delta : R),
  (forall i, 0 <= w i) -> \sum_i w i = 1 ->
  (forall T, total (worse T)) -> (forall T, transitive (worse T)) -> (forall T, antisymmetric (worse T)) -> (forall T, (0 < r T)%N) ->
  (forall T z, wrong T z -> bad T z) -> 0 <= delta ->
  Ex w (fun S : {ffun 'I_N -> I} => let T := (pick worse bad r stop (rows S)).1 in let q := (pick worse bad r stop (rows S)).2 in
    ((pick_bound N (seq.size (flatten T) + seq.size q) delta < error_rate w (wrong T))%R)%:R) <= delta).
Check (@pick_certificate_start : forall (R : realType) (I K : finType) (w : I -> R) (M N : nat)
    (worse : {ffun 'I_M -> I} -> K -> seq (seq I) -> rel I) (bad : {ffun 'I_M -> I} -> K -> seq (seq I) -> pred I) (r : {ffun 'I_M -> I} -> K -> seq (seq I) -> nat)
    (stop : {ffun 'I_M -> I} -> K -> seq (seq I) -> bool) (wrong : {ffun 'I_M -> I} -> K -> seq (seq I) -> I -> bool) (delta : R),
  (forall i, 0 <= w i) -> \sum_i w i = 1 ->
  (forall P k T, total (worse P k T)) -> (forall P k T, transitive (worse P k T)) -> (forall P k T, antisymmetric (worse P k T)) ->
  (forall P k T, (0 < r P k T)%N) -> (forall P k T z, wrong P k T z -> bad P k T z) -> 0 <= delta ->
  Ex w (fun P : {ffun 'I_M -> I} => Ex w (fun S : {ffun 'I_N -> I} => `[< exists k : K,
    let T := (pick (worse P k) (bad P k) (r P k) (stop P k) (rows S)).1 in let q := (pick (worse P k) (bad P k) (r P k) (stop P k) (rows S)).2 in
    pick_bound N (seq.size (flatten T) + seq.size q) (delta / #|K|%:R) < error_rate w (wrong P k T) >]%:R)) <= delta).
Check (@worst_first_order : forall (R : realType) (I : eqType) (loss : seq (seq I) -> I -> R) (rank : I -> nat), injective rank ->
  forall T, [/\ total (worst_first loss rank T), transitive (worst_first loss rank T) & antisymmetric (worst_first loss rank T)]).
  Check (fun (R : realType) (I : eqType) (loss : seq (seq I) -> I -> R) (rank : I -> nat) (T : seq (seq I)) (x y : I) => erefl :
    worst_first loss rank T x y = (loss T y < loss T x) || ((loss T x == loss T y) && (rank x <= rank y)%N)).
  Check (fun (I : finType) (worse : seq (seq I) -> rel I) (bad : seq (seq I) -> pred I) (r : seq (seq I) -> nat) (stop : seq (seq I) -> bool) (n : nat) (T : seq (seq I)) (s : seq I) =>
    And5 erefl erefl erefl erefl erefl :
    [/\ queue worse bad T s = sort (worse T) [seq z <- s | bad T z], run worse bad r stop 0 T s = (T, queue worse bad T s),
        run worse bad r stop n.+1 T s = (let q := queue worse bad T s in if stop T || (q == [::]) then (T, q)
          else run worse bad r stop n (rcons T (take (r T) q)) (drop (r T) q ++ [seq z <- s | ~~ bad T z])),
        pick worse bad r stop s = run worse bad r stop (seq.size s) [::] s &
        picked worse bad r stop s = flatten (pick worse bad r stop s).1 ++ (pick worse bad r stop s).2]).
  Check (fun (I : finType) (m : nat) (S : {ffun 'I_m -> I}) (t s : seq I) => conj erefl erefl :
    rows S = [seq S i | i <- enum 'I_m] /\ among t s = (forall x, (count_mem x t <= count_mem x s)%N)).
(* why: picking is preferent, what is inappropriate changes it, n more rows cost (1 - phi)^n, and whatever is preferent has phi(T) <= eps(|T|) *)
Check (@picking_preferent : forall (I : finType) (worse : seq (seq I) -> rel I) (bad : seq (seq I) -> pred I) (r : seq (seq I) -> nat) (stop : seq (seq I) -> bool),
  (forall T, total (worse T)) -> (forall T, transitive (worse T)) -> (forall T, antisymmetric (worse T)) -> (forall T, (0 < r T)%N) ->
  preferent (picked worse bad r stop)).
Check (@picking_changes : forall (I : finType) (worse : seq (seq I) -> rel I) (bad : seq (seq I) -> pred I) (r : seq (seq I) -> nat) (stop : seq (seq I) -> bool),
  (forall T, total (worse T)) -> (forall T, transitive (worse T)) -> (forall T, antisymmetric (worse T)) -> (forall T, (0 < r T)%N) ->
  forall (s : seq I) (z : I), bad (pick worse bad r stop s).1 z ->
  picked worse bad r stop (z :: picked worse bad r stop s) != picked worse bad r stop s).
Check (@pick_steps : forall (R : realType) (I : finType) (w : I -> R) (c : seq I -> seq I), (forall i, 0 <= w i) -> \sum_i w i = 1 -> preferent c ->
  forall (m n : nat) (t : seq I), (seq.size t <= m)%N ->
  Ex w (fun S : {ffun 'I_(m + n) -> I} => (c (rows S) == t)%:R) * 'C(m, seq.size t)%:R
  <= Ex w (fun S : {ffun 'I_m -> I} => (c (rows S) == t)%:R) * 'C(m + n, seq.size t)%:R * (1 - change_rate w c t) ^+ n).
Check (@preferent_bound : forall (R : realType) (I : finType) (w : I -> R) (c : seq I -> seq I), (forall i, 0 <= w i) -> \sum_i w i = 1 -> preferent c ->
  forall (N : nat) (delta : R), 0 <= delta ->
  Ex w (fun S : {ffun 'I_N -> I} => ((pick_bound N (seq.size (c (rows S))) delta < change_rate w c (c (rows S)))%R)%:R) <= delta).
  Check (fun (R : realType) (I : finType) (w : I -> R) (c : seq I -> seq I) (t : seq I) => conj erefl erefl :
    preferent c = ((forall s, among (c s) s) /\ (forall s v, among (c s) v -> among v s -> c v = c s)) /\
    change_rate w c t = error_rate w (fun z => c (z :: t) != t)).
(* eps: pick_bound is the one root, and rises in k and falls in N *)
Check (@pick_root : forall (R : realType) (N k : nat) (delta : R), (k < N)%N -> 0 < delta < 1 ->
  [/\ 0 < pick_bound N k delta < 1, pick_sum N k delta (pick_bound N k delta) = 1 &
      forall p, 0 <= p < 1 -> pick_sum N k delta p = 1 -> p = pick_bound N k delta]).
Check (@pick_sum_tail : forall (R : realType) (N k : nat) (delta p : R), (k < N)%N -> 0 < p < 1 ->
  pick_sum N k delta p = delta * (1 - cdf N k p) / (N%:R * p * pmf N k p)).
Check (@pick_bound_le : forall (R : realType) (N k : nat) (delta p : R), (k < N)%N -> 0 < delta < 1 -> 0 <= p < 1 ->
  1 <= pick_sum N k delta p -> pick_bound N k delta <= p).
Check (@pick_bound_rises : forall (R : realType) (N k k' : nat) (delta : R), 0 < delta < 1 -> (k <= k')%N -> pick_bound N k delta <= pick_bound N k' delta).
Check (@pick_bound_falls : forall (R : realType) (N N' k : nat) (delta : R), 0 < delta < 1 -> (N <= N')%N -> pick_bound N' k delta <= pick_bound N k delta).
  Check (fun (R : realType) (N k : nat) (delta p : R) => conj erefl erefl :
    pick_sum N k delta p = delta / N%:R * (\sum_(k <= m < N) 'C(m, k)%:R / 'C(N, k)%:R * (1 - p) ^- (N - m)) /\
    pick_bound N k delta = if (k < N)%N then sup [set p | 0 <= p < 1 /\ pick_sum N k delta p <= 1] else 1).
