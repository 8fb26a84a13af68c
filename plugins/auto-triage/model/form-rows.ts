// Reads the stored rows of a form model by column, as far as issues need them: most values of an issue and of the rows
// are zero, and decoding all rows takes longer than an answer.
import { levelAt, levelCount } from './codec.ts';
import { distanceSquared, kernelSharpness, kernelOf, readRows } from './form.ts';
import type { Scores } from './kind.ts';
import type { FormModel } from './model.ts';

/** Non-zero values of a column. */
interface Column {
  readonly rows: Uint16Array;
  readonly values: Float64Array;
}

export class FormRows {
  readonly #form: FormModel;
  readonly #columns: (Column | undefined)[] = [];
  readonly #squares: Float64Array;
  readonly #coefficients: readonly [Float64Array, Float64Array, Float64Array];

  constructor(form: FormModel) {
    this.#form = form;
    this.#squares = Float64Array.from(form.squares ?? squaresOf(form));
    const of = (kind: 0 | 1 | 2): Float64Array => Float64Array.from(form.coefficients, (row) => row[kind]);
    this.#coefficients = [of(0), of(1), of(2)];
  }

  /** Returns the kernel with each row. */
  similarities(point: Float64Array): Float64Array {
    const products = new Float64Array(this.#squares.length);
    let square = 0;
    for (let column = 0; column < point.length; column++) {
      const own = point[column] as number;
      if (own === 0) continue;
      square += own * own;
      const { rows, values } = this.#column(column);
      for (let i = 0; i < rows.length; i++) {
        const row = rows[i] as number;
        products[row] = (products[row] as number) + own * (values[i] as number);
      }
    }
    for (let row = 0; row < products.length; row++)
      products[row] = kernelOf(square + (this.#squares[row] as number) - 2 * (products[row] as number));
    return products;
  }

  scores(similarities: Float64Array): Scores {
    const [a, b, c] = this.#coefficients;
    const sums: [number, number, number] = [0, 0, 0];
    for (let row = 0; row < similarities.length; row++) {
      const similarity = similarities[row] as number;
      sums[0] += (a[row] as number) * similarity;
      sums[1] += (b[row] as number) * similarity;
      sums[2] += (c[row] as number) * similarity;
    }
    return sums;
  }

  /** Returns how much the score of a kind falls if the value of a column were zero. */
  pullOf(kind: 0 | 1 | 2, similarities: Float64Array, score: number, column: number, own: number): number {
    const coefficients = this.#coefficients[kind];
    const { rows, values } = this.#column(column);
    // Without the value, the squared distance of a row is smaller by own² - 2 · own · value.
    const without = Math.exp(kernelSharpness * own * own);
    let pull = score * (1 - without);
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i] as number;
      const part = (coefficients[row] as number) * (similarities[row] as number);
      pull += part * without * (1 - Math.exp(-2 * kernelSharpness * own * (values[i] as number)));
    }
    return pull;
  }

  #column(at: number): Column {
    const known = this.#columns[at];
    if (known) return known;
    const { rows: texts, maxima, scales } = this.#form;
    const unit = ((maxima[at] ?? 0) / (levelCount - 1)) * (scales[at] ?? 0);
    const rows: number[] = [];
    const values: number[] = [];
    for (const [row, text] of texts.entries()) {
      const level = levelAt(text, at);
      if (level === 0) continue;
      rows.push(row);
      values.push(level * unit);
    }
    return (this.#columns[at] = { rows: Uint16Array.from(rows), values: Float64Array.from(values) });
  }
}

/** Returns the squared length of each row. */
export function squaresOf(form: Pick<FormModel, 'scales' | 'maxima' | 'rows'>): number[] {
  const zero = new Float64Array(form.scales.length);
  return readRows(form).map((row) => Number(distanceSquared(row, zero).toPrecision(12)));
}
