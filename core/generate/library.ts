// The types of the SDK while they are written: each has one name and one file, and a file imports what it names of others.
import { docText, membersText, typeText, type JsonSchema, type Printing } from './type-text.ts';

export interface Library {
  /** Declares a type by its schema. */
  declare(file: string, name: string, schema: JsonSchema, how: How): void;
  /** Declares a type, or another name, by its text. */
  add(file: string, name: string, text: string): void;
  /** The type of a schema as `file` uses it: parts that have a name are declared there, unless they are elsewhere. */
  typeIn(file: string, schema: JsonSchema, isShown: boolean): string;
  /** By file. */
  texts(): ReadonlyMap<string, string>;
}

interface How extends Pick<Printing, 'isShown' | 'filter'> {
  readonly doc: string;
}

interface Declaration {
  readonly file: string;
  /** Empty for what is written by hand. */
  text: string;
}

/**
 * @param known names that are written by hand, and the files that have them
 * @param renamed those of schemas that have another name as types
 * @param lists words that have a name together
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

  const printing = (file: string, isShown: boolean, filter: string | null = null): Printing => ({
    isShown,
    filter,
    nameOf(schema: JsonSchema): string | null {
      const given = schema['x-name'];
      if (given === undefined) return listNames.get((schema.enum ?? []).toSorted().join()) ?? null;
      const name = renamed[given] ?? given;
      if (!declarations.has(name)) library.declare(file, name, schema, { isShown, doc: '' });
      return name;
    },
  });

  const library: Library = {
    declare(file, name, schema, { isShown, doc, filter = null }) {
      const declaration = reserve(file, name);
      const members = membersText(schema, printing(file, isShown, filter));
      declaration.text = `${docText(doc || schema.description)}export interface ${name} ${members}`;
    },
    add: (file, name, text) => void (reserve(file, name).text = text),
    typeIn: (file, schema, isShown) => typeText(schema, printing(file, isShown)),
    texts() {
      const files = [...declarations.values()].filter(({ text }) => text !== '').map(({ file }) => file);
      return new Map([...new Set(files)].map((file) => [file, textOf(file, declarations)]));
    },
  };
  return library;
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
