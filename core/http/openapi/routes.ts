// Serves the document. It is built once, at start, from the routes as they are mounted, its own among them.
import { Type } from 'typebox';
import { defineRoute, type Route } from '../route.ts';
import { buildDocument, type DocumentOptions } from './document.ts';

export function openapiRoutes(document: () => DocumentOptions): Route[] {
  let text: string | null = null;
  return [
    defineRoute({
      method: 'GET',
      path: '/api/v1/openapi.json',
      name: 'openapi.get',
      summary: 'This document',
      scope: null,
      limit: 'read',
      responses: { 200: Type.Object({}) },
      raw: () => ({
        contentType: 'application/json',
        body: (text ??= JSON.stringify(buildDocument(document()))),
      }),
    }),
  ];
}
