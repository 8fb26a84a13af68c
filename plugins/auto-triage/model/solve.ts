// Kernel ridge regression in slices: Cholesky factor, dual coefficients, and leave-one-out answers in closed form (y
// - α / diag(K⁻¹)).

/** Symmetric matrix; only the lower half is stored, row by row. */
export type LowerMatrix = readonly Float64Array[];

export type Solution = {
  readonly coefficients: readonly Float64Array[];
  readonly leftOut: readonly Float64Array[];
};

/** Overwrites `kernel`. Yields the number of multiplications since the last yield. */
export function* solveRidge(
  kernel: LowerMatrix,
  targets: readonly Float64Array[],
  ridge: number,
): Generator<number, Solution> {
  yield* factorise(kernel, ridge);
  const inverseDiagonal = yield* invertDiagonal(kernel);
  const coefficients = targets.map((target) => substituteBack(kernel, substituteForward(kernel, target)));
  yield targets.length * kernel.length * kernel.length;
  const leftOut = coefficients.map((alpha, t) =>
    alpha.map((value, i) => (targets[t]?.[i] ?? 0) - value / (inverseDiagonal[i] ?? 1)),
  );
  return { coefficients, leftOut };
}

/** Replaces K with L such that L·Lᵀ = K + ridge. */
function* factorise(kernel: LowerMatrix, ridge: number): Generator<number, void> {
  for (const [i, row] of kernel.entries()) {
    for (let j = 0; j < i; j++) {
      const other = kernel[j] as Float64Array;
      row[j] = ((row[j] as number) - dot(row, other, 0, j)) / (other[j] as number);
    }
    row[i] = Math.sqrt(Math.max((row[i] as number) + ridge - dot(row, row, 0, i), 1e-9));
    yield (i * i) / 2;
  }
}

/** Returns diag((L·Lᵀ)⁻¹): the squared length of each column of L⁻¹. */
function* invertDiagonal(factor: LowerMatrix): Generator<number, Float64Array> {
  const n = factor.length;
  const diagonal = new Float64Array(n);
  const column = new Float64Array(n);
  for (let start = 0; start < n; start++) {
    let squares = 0;
    for (let i = start; i < n; i++) {
      const row = factor[i] as Float64Array;
      const value = ((i === start ? 1 : 0) - dot(row, column, start, i)) / (row[i] as number);
      column[i] = value;
      squares += value * value;
    }
    diagonal[start] = squares;
    yield ((n - start) * (n - start)) / 2;
  }
  return diagonal;
}

function dot(a: Float64Array, b: Float64Array, from: number, to: number): number {
  let sum = 0;
  for (let k = from; k < to; k++) sum += (a[k] as number) * (b[k] as number);
  return sum;
}

function substituteForward(factor: LowerMatrix, target: Float64Array): Float64Array {
  const out = Float64Array.from(target);
  for (const [i, row] of factor.entries())
    out[i] = ((out[i] as number) - dot(row, out, 0, i)) / (row[i] as number);
  return out;
}

function substituteBack(factor: LowerMatrix, target: Float64Array): Float64Array {
  const out = Float64Array.from(target);
  for (let i = out.length - 1; i >= 0; i--) {
    const row = factor[i] as Float64Array;
    const value = (out[i] as number) / (row[i] as number);
    out[i] = value;
    for (let k = 0; k < i; k++) out[k] = (out[k] as number) - value * (row[k] as number);
  }
  return out;
}
