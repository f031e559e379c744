// Package charts draws the two pictures of a run that go into files: the timeline of all requests as a page that needs
// nothing but a browser, and the lengths of its prompts and answers as a PNG. It computes no figure that a report shows.
//
// Everything foreign that gets into the page (model names, request ids, error texts) travels as data, never as markup.
package charts
