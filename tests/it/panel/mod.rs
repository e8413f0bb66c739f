//! Every page: structure, forms, text of strangers, in a real browser.

mod browser; // What people do in the panels, in a real browser.
mod browser_journeys; // What people come for, with the clicks that it takes, in a real browser.
mod browser_pages; // Every page by itself: accessible, silent console, fits a phone.
mod browser_questions; // Questions answered by keyboard, in a real browser.
mod browser_supplier; // What suppliers do all day, counted in clicks, in a real browser.
mod browser_text; // Text of strangers, in a real browser.
mod find; // The search over everything, and lists kept under a name.
mod forms; // Forms do their work once, and their result is shown once.
mod live; // Open pages follow what happens.
mod page_states; // Pages in states that a walk along links does not find.
mod pages; // Every page of every role: structure, references, addresses.
mod render; // Every page as a picture.
mod stored_text; // Text of strangers runs nothing on any page.
mod weight; // What the first view of a page costs.
