// Exports for commands.
export { filledTemplate, listTemplates, TemplateError } from './templates.ts';
