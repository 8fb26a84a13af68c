// Collects the types of the SDK: each has one name and one file, and files import types from each other.
import { bodyText, docText, membersOf, typeText, type JsonSchema, type Printing } from './type-text.ts';

export interface Library {
  /** Declares a type from its schema. */
  declare(file: string, name: string, schema: JsonSchema, how: How): void;
  /** Declares a type or alias from its text. */
  add(file: string, name: string, text: string): void;
  /** Returns the type of a schema as used in `file`. Named parts are declared in that file unless they are declared already. */
  typeIn(file: string, schema: JsonSchema, isResponse: boolean): string;
  /** Returns the text of each file, by path. */
  texts(): ReadonlyMap<string, string>;
}

interface How extends Pick<Printing, 'isResponse'> {
  readonly doc: string;
}

interface Declaration {
  readonly file: string;
  /** Empty for handwritten types. */
  text: string;
  members?: ReadonlyMap<string, string>;
}

/** A type extends another one with which it shares at least `commonLeast` members, and of which it omits at most `leftOutMost`. */
const commonLeast = 6;
const leftOutMost = 2;

/**
 * @param known handwritten types, with their files
 * @param renamed schema names whose type has another name
 * @param lists word lists that have a separate type
 */
export function createLibrary(
  known: Readonly<Record<string, string>>,
  renamed: Readonly<Record<string, string>>,
  lists: Readonly<Record<string, readonly string[]>>,
): Library {
  const listNames = new Map(Object.entries(lists).map(([name, words]) => [words.toSorted().join(), name]));
  const declarations = new Map<string, Declaration>(
    Object.entries(known).map(([name, file]) => [name, { file, text: '' }]),
  );

  const reserve = (file: string, name: string): Declaration => {
    if (declarations.has(name)) throw new Error(`Two types are named ${name}.`);
    const declaration = { file, text: '' };
    declarations.set(name, declaration);
    return declaration;
  };

  const printing = (file: string, isResponse: boolean): Printing => ({
    isResponse,
    nameOf(schema: JsonSchema): string | null {
      const explicitName = schema['x-name'];
      if (explicitName === undefined) return listNames.get((schema.enum ?? []).toSorted().join()) ?? null;
      const name = renamed[explicitName] ?? explicitName;
      if (!declarations.has(name)) library.declare(file, name, schema, { isResponse, doc: '' });
      return name;
    },
  });

  const library: Library = {
    declare(file, name, schema, { isResponse, doc }) {
      const declaration = reserve(file, name);
      const members = membersOf(schema, printing(file, isResponse));
      const base = baseOf(members, isResponse ? declarations : new Map());
      if (isResponse) declaration.members = members;
      declaration.text = `${docText(doc || schema.description)}export interface ${name} ${base.clause}${bodyText(base.others)}`;
    },
    add: (file, name, text) => void (reserve(file, name).text = text),
    typeIn: (file, schema, isResponse) => typeText(schema, printing(file, isResponse)),
    texts() {
      const files = [...declarations.values()].filter(({ text }) => text !== '').map(({ file }) => file);
      return new Map([...new Set(files)].map((file) => [file, textOf(file, declarations)]));
    },
  };
  return library;
}

/** Returns an `extends` clause for the type with most members in common, and the remaining members. */
function baseOf(
  members: ReadonlyMap<string, string>,
  declarations: ReadonlyMap<string, Declaration>,
): { clause: string; others: Iterable<string> } {
  let best = { clause: '', others: members.values() as Iterable<string>, common: commonLeast - 1 };
  for (const [name, { members: of = new Map<string, string>() }] of declarations) {
    const leftOut = [...of.keys()].filter((one) => of.get(one) !== members.get(one));
    const common = of.size - leftOut.length;
    if (common <= best.common || leftOut.length > leftOutMost) continue;
    const others = [...members].filter(([one, text]) => of.get(one) !== text).map(([, text]) => text);
    const without = leftOut.map((one) => `'${one}'`).join(' | ');
    best = { clause: `extends ${without ? `Omit<${name}, ${without}>` : name} `, others, common };
  }
  return best;
}

function textOf(file: string, declarations: ReadonlyMap<string, Declaration>): string {
  const own = [...declarations.values()].filter((one) => one.file === file).map(({ text }) => text);
  const words = new Set(
    own
      .join('\n')
      .replaceAll(/\/\*\*.*?\*\/|'[^']*'|"[^"]*"/gs, '')
      .match(/\w+/g),
  );
  const imports = new Map<string, string[]>();
  for (const [name, { file: home }] of declarations)
    if (home !== file && words.has(name)) imports.set(home, [...(imports.get(home) ?? []), name]);
  const lines = [...imports]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([home, names]) => `import type { ${names.toSorted().join(', ')} } from '${pathTo(home)}';`);
  return [lines.join('\n'), ...own].filter((part) => part !== '').join('\n\n');
}

const pathTo = (file: string): string => (file.startsWith('.') ? file : `./${file}`);
